import { type ErrorDetail, type Project, type ProjectKind, UNLIMITED } from '@tollgate/contract';
import { DomainError } from '../../kernel/errors.js';
import { TenantTx, type Tx } from '../../platform/postgres/index.js';
import type { EventEntitlement } from '../quotas/index.js';
import type { Entitlements } from './entitlements.js';
import type { EntitlementLimits, TenantEntitlement } from './grant.js';
import { lockAllowance } from './grant-store.js';

/** Limits on how many of something a tenant may have, by their name in a plan. */
const COUNTED = {
  max_development_projects: 'maxDevelopmentProjects',
  max_release_projects: 'maxReleaseProjects',
  max_subject_routes: 'maxSubjectRoutes',
  max_usage_controls: 'maxUsageControls',
} as const satisfies Record<string, keyof EntitlementLimits>;

type CountedLimit = keyof typeof COUNTED;

const OF_KIND = {
  development: 'max_development_projects',
  release: 'max_release_projects',
} as const satisfies Record<ProjectKind, CountedLimit>;

/** Enforces the entitlements of tenants; main passes it to the modules that need it. */
export class TenantAdmission {
  readonly #entitlements: Pick<Entitlements, 'current' | 'currentWithin'>;

  constructor(entitlements: Pick<Entitlements, 'current' | 'currentWithin'>) {
    this.#entitlements = entitlements;
  }

  /** Implements the port of tenancy. */
  async admitProject(
    tx: Tx,
    tenantId: string,
    kind: ProjectKind,
    count: () => Promise<number>,
  ): Promise<Project['storage']> {
    const { limits } = await this.#admit(tx, tenantId, OF_KIND[kind], 1, count);
    return kind === 'release' && limits.requiresReleaseProjectUsageStorage ? 'dedicated' : 'shared';
  }

  /** Implements a port of limits. */
  async admitSubjectRoutes(
    tx: Tx,
    tenantId: string,
    added: number,
    count: () => Promise<number>,
  ): Promise<void> {
    await this.#admit(tx, tenantId, 'max_subject_routes', added, count);
  }

  /** Implements a port of limits. */
  async admitUsageControls(
    tx: Tx,
    tenantId: string,
    added: number,
    count: () => Promise<number>,
  ): Promise<void> {
    await this.#admit(tx, tenantId, 'max_usage_controls', added, count);
  }

  /**
   * Implements a port of limits.
   *
   * @throws DomainError `entitlement_limit_reached` when the tenant's plan has no budgets
   */
  async admitBudgetLease(tenantId: string): Promise<void> {
    const entitlement = await this.#entitlements.current(tenantId);
    if (entitlement.limits.features.budgets === true) return;
    throw limitReached(entitlement, { path: 'features.budgets', message: 'is off' });
  }

  /** Implements the port of ingest. Returns without a promise when the tenant's grants are cached. */
  eventEntitlementOf(tenantId: string): EventEntitlement | Promise<EventEntitlement> {
    const entitlement = this.#entitlements.current(tenantId);
    return entitlement instanceof Promise
      ? entitlement.then(eventEntitlement)
      : eventEntitlement(entitlement);
  }

  /**
   * Returns the entitlement that is active in `tx`, if it has room for `added` more.
   *
   * @throws DomainError `entitlement_limit_reached`
   */
  async #admit(
    tx: Tx,
    tenantId: string,
    limit: CountedLimit,
    added: number,
    count: () => Promise<number>,
  ): Promise<TenantEntitlement> {
    const entitlement = await this.#entitlements.currentWithin(tx, tenantId);
    const most = entitlement.limits[COUNTED[limit]];
    if (most === UNLIMITED) return entitlement;
    await lockAllowance(new TenantTx(tx, tenantId), limit);
    const used = await count();
    if (used + added <= most) return entitlement;
    const asked = added === 1 ? '' : `, ${added} more requested`;
    throw limitReached(entitlement, { path: limit, message: `allows ${most}; ${used} used${asked}` });
  }
}

function eventEntitlement({ status, planId, limits, endsAt }: TenantEntitlement): EventEntitlement {
  return {
    isEntitled: status === 'active' || planId !== 'none',
    window: { ageDaysMax: -limits.partitionStartDays, aheadDaysMax: limits.partitionEndDays },
    monthlyEventLimit: limits.monthlyEventLimit,
    endsAt,
  };
}

function limitReached({ planId }: TenantEntitlement, detail: ErrorDetail): DomainError {
  return new DomainError('entitlement_limit_reached', {
    message: `The subscription plan ${planId} does not allow this: ${detail.path} ${detail.message}.`,
    details: [detail],
  });
}
