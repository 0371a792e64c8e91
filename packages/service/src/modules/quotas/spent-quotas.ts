import { BoundedMap } from '../../kernel/bounded-map.js';
import { utcMonthAt } from '../../kernel/period.js';
import type { SegmentRecord } from '../../platform/queue/index.js';

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
