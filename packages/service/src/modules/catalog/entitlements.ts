import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { utcMonthAt } from '../../kernel/period.js';
import { FlightCache } from '../../platform/flight-cache.js';
import { type Db, type Postgres, TenantDb, type Tx } from '../../platform/postgres/index.js';
import { openQuota } from '../quotas/index.js';
import { type RetentionPolicy, recordRetention, type UsageHistory } from '../storage/index.js';
import {
  type Baseline,
  entitlementAt,
  HISTORY_GRACE_S,
  type HistoryRetention,
  historyRetention,
  type PlanGrant,
  type TenantEntitlement,
} from './grant.js';
import { openGrants } from './grant-store.js';

/** After this time at the latest, grants that another node has made are known here. */
export const GRANTS_FRESH_MS = 1_000;
const TENANTS_CACHED_MAX = 20_000;

export interface EntitlementsOptions {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly baseline: Baseline;
  /** This process's cache of how much history is shown. */
  readonly history?: Pick<UsageHistory, 'forget'>;
  /** A clock that never goes back; measures the age of cached grants. */
  readonly monotonicMs?: () => number;
}

/** The entitlements of tenants. A grant begins and ends at its exact second, even when it comes from the cache. */
export class Entitlements {
  readonly #options: EntitlementsOptions;
  readonly #grants: FlightCache<readonly PlanGrant[]>;

  constructor(options: EntitlementsOptions) {
    this.#options = options;
    const { postgres, clock, monotonicMs = () => performance.now() } = options;
    this.#grants = new FlightCache({
      lookUp: (tenantId) => openGrants(new TenantDb(postgres.db, tenantId), unixSeconds(clock)),
      ageMsMax: GRANTS_FRESH_MS,
      entriesMax: TENANTS_CACHED_MAX,
      nowMs: monotonicMs,
    });
  }

  /** Returns the tenant's current entitlement, without a promise when its grants are cached. */
  current(tenantId: string): TenantEntitlement | Promise<TenantEntitlement> {
    const grants = this.#grants.get(tenantId);
    if (grants instanceof Promise) return grants.then((found) => this.#at(tenantId, found));
    return this.#at(tenantId, grants);
  }

  /** Returns for how long the tenant's history is shown and kept now, read from `db` without the cache. */
  async historyRetention(tenantId: string, db: Db = this.#options.postgres.db): Promise<HistoryRetention> {
    const { clock, baseline } = this.#options;
    const nowS = unixSeconds(clock);
    const grants = await openGrants(new TenantDb(db, tenantId), nowS - HISTORY_GRACE_S);
    return historyRetention(grants, baseline, nowS);
  }

  /** As `current`, but read inside `tx`. */
  async currentWithin(tx: Tx, tenantId: string): Promise<TenantEntitlement> {
    const nowS = unixSeconds(this.#options.clock);
    return this.#at(tenantId, await openGrants(new TenantDb(tx, tenantId), nowS));
  }

  /**
   * Applies a change of the tenant's grants after its commit: events are counted from now on, history is shown as the
   * active plan says, and the caches of this node are cleared. Repeating it changes nothing.
   */
  async applyGrants(tenantId: string): Promise<void> {
    const { postgres, clock, history } = this.#options;
    await openQuota(new TenantDb(postgres.db, tenantId), utcMonthAt(unixSeconds(clock)).startS);
    const policy: RetentionPolicy = { retentionOf: (tx, id) => this.historyRetention(id, tx) };
    await recordRetention({ postgres, clock, policy }, tenantId);
    this.#grants.clear();
    history?.forget();
  }

  #at(tenantId: string, grants: readonly PlanGrant[]): TenantEntitlement {
    const { baseline, clock } = this.#options;
    return entitlementAt(tenantId, grants, baseline, unixSeconds(clock));
  }
}

export function createEntitlements(options: EntitlementsOptions): Entitlements {
  return new Entitlements(options);
}
