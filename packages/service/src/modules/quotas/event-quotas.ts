import { BoundedMap } from '../../kernel/bounded-map.js';
import { utcMonthAt } from '../../kernel/period.js';
import type { Postgres } from '../../platform/postgres/index.js';
import type { SegmentQueue, SegmentRecord } from '../../platform/queue/index.js';
import {
  admitInOrder,
  chargeKey,
  type QuotaCharge,
  type QuotaRecord,
  type QuotaRefusal,
  quotaCharges,
} from './admit.js';
import { countingOf, isOverQuota, withQuotasLocked } from './store.js';

/** Upper bound of the quotas remembered as spent. */
const SPENT_QUOTAS_MAX = 10_000;

/** Appends requests to the queue as far as the quotas of their tenants have room. */
export class EventQuotas {
  readonly #postgres: Pick<Postgres, 'pool'>;
  readonly #queue: Pick<SegmentQueue<never>, 'appendWith'>;
  /** Quotas that had no room recently, by `chargeKey`. */
  readonly #spent = new BoundedMap<string, true>(SPENT_QUOTAS_MAX);

  constructor(postgres: Pick<Postgres, 'pool'>, queue: Pick<SegmentQueue<never>, 'appendWith'>) {
    this.#postgres = postgres;
    this.#queue = queue;
  }

  /**
   * Appends requests as one segment, and counts their events in the same statement. Durable once it resolves; after a
   * rejection the result is unknown.
   *
   * @returns the requests that were left out as a whole because a quota has no room for them; nothing of them is
   * counted
   */
  async appendWithinQuota(records: readonly QuotaRecord[]): Promise<readonly QuotaRefusal[]> {
    const charges = quotaCharges(records);
    if (!this.#isSpent(charges)) {
      try {
        await this.#queue.appendWith(countingOf(charges), records.map(recordOf));
        return [];
      } catch (error) {
        if (!isOverQuota(error)) throw error;
      }
    }
    const refusals = await this.#appendAdmitted(records, charges);
    this.#noteSpent(records, charges, refusals);
    return refusals;
  }

  /** Whether a quota had no room recently: another attempt would probably fail, and the server logs failures. */
  #isSpent(charges: readonly QuotaCharge[]): boolean {
    if (this.#spent.size === 0) return false;
    return charges.some(({ tenantId, monthStartS }) => this.#spent.has(chargeKey(tenantId, monthStartS)));
  }

  /** When the quotas have no room for all requests, decides about each by itself, with the quotas locked. */
  #appendAdmitted(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
  ): Promise<readonly QuotaRefusal[]> {
    return withQuotasLocked(this.#postgres, charges, async (used, client) => {
      const { admitted, refusals } = admitInOrder(records, charges, used);
      if (admitted.length > 0) {
        await this.#queue.appendWith(countingOf(quotaCharges(admitted)), admitted.map(recordOf), client);
      }
      return refusals;
    });
  }

  #noteSpent(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
    refusals: readonly QuotaRefusal[],
  ): void {
    const refused = new Set(refusals.map(({ index }) => records[index]?.record.scope.tenantId));
    for (const { tenantId, monthStartS } of charges) {
      const key = chargeKey(tenantId, monthStartS);
      if (refused.has(tenantId)) this.#spent.set(key, true);
      else this.#spent.delete(key);
    }
  }
}

function recordOf({ record }: QuotaRecord) {
  return record;
}

/** After this time a quota is checked again, because it may have been recounted. */
const REMEMBERED_MS = 1_000;
const TENANTS_MAX = 10_000;

interface Spent {
  readonly monthEndS: number;
  readonly used: number;
  readonly atMs: number;
}

/**
 * Remembers what tenants had used when their quota refused events. Use only grows, so what did not fit then is refused
 * without a write: tenants over their quota cost the others nothing.
 */
export class SpentQuotas {
  readonly #tenants = new BoundedMap<string, Spent>(TENANTS_MAX);

  remember({ scope: { tenantId }, receivedAtMs }: SegmentRecord, used: number): void {
    const monthEndS = utcMonthAt(receivedAtMs / 1_000).endS;
    this.#tenants.set(tenantId, { monthEndS, used, atMs: receivedAtMs });
  }

  /** Returns what the tenant had used, if that alone leaves no room for the record. */
  usedWithoutRoom(record: SegmentRecord, monthlyEventLimit: number): number | undefined {
    if (monthlyEventLimit < 0) return undefined;
    const { tenantId } = record.scope;
    const spent = this.#tenants.get(tenantId);
    if (spent === undefined) return undefined;
    const ageMs = record.receivedAtMs - spent.atMs;
    const isSameMonth = record.receivedAtMs < spent.monthEndS * 1_000;
    if (isSameMonth && ageMs >= 0 && ageMs < REMEMBERED_MS) {
      return spent.used + record.eventCount > monthlyEventLimit ? spent.used : undefined;
    }
    this.#tenants.delete(tenantId);
    return undefined;
  }
}
