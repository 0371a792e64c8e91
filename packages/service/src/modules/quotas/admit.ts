import { utcMonthAt } from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import type { SegmentRecord } from '../../platform/queue/index.js';
import { type MonthlyEvents, monthlyEvents } from './monthly-events.js';

/** A request whose events are accepted if the quota of its tenant has room for all of them. */
export interface QuotaRecord {
  readonly record: SegmentRecord;
  /** Events that the tenant may have accepted in a calendar month (UTC); -1 for any number. */
  readonly monthlyEventLimit: number;
}

/** A request that a quota had no room for. */
export interface QuotaRefusal {
  /** Index among the requests. */
  readonly index: number;
  /** Events of the tenant in the month that were accepted before. */
  readonly used: number;
}

/** The amount that requests add to one row of `event_quotas`. */
export interface QuotaCharge extends MonthlyEvents {
  /** Null for none. */
  readonly eventLimit: number | null;
}

/** Adds up what requests add to each quota. A tenant has one limit: the one that was read last. */
export function quotaCharges(records: readonly QuotaRecord[]): QuotaCharge[] {
  const limits = new Map<string, number>();
  const arrived = records.map(({ record, monthlyEventLimit }) => {
    const { scope, receivedAtMs, eventCount } = record;
    limits.set(scope.tenantId, monthlyEventLimit);
    return { tenantId: scope.tenantId, receivedAtMs, eventCount };
  });
  return monthlyEvents(arrived).map((events) => {
    const limit = present(limits.get(events.tenantId), `the limit of ${events.tenantId}`);
    return { ...events, eventLimit: limit < 0 ? null : limit };
  });
}

/**
 * Decides for which requests there is room, one after the other: a refused one leaves its room to those after it.
 *
 * @param usedBefore by `chargeKey`
 */
export function admitInOrder(
  records: readonly QuotaRecord[],
  charges: readonly QuotaCharge[],
  usedBefore: ReadonlyMap<string, number>,
): { readonly admitted: QuotaRecord[]; readonly refusals: QuotaRefusal[] } {
  const limits = new Map(charges.map((charge) => [charge.tenantId, charge.eventLimit]));
  const used = new Map(usedBefore);
  const admitted: QuotaRecord[] = [];
  const refusals: QuotaRefusal[] = [];
  for (const [index, asked] of records.entries()) {
    const { tenantId } = asked.record.scope;
    const key = chargeKey(tenantId, utcMonthAt(asked.record.receivedAtMs / 1_000).startS);
    const before = used.get(key) ?? 0;
    const after = before + asked.record.eventCount;
    const limit = limits.get(tenantId) ?? null;
    if (limit !== null && after > limit) {
      refusals.push({ index, used: before });
    } else {
      used.set(key, after);
      // One tenant, one limit: as it was read last.
      admitted.push({ record: asked.record, monthlyEventLimit: limit ?? -1 });
    }
  }
  return { admitted, refusals };
}

/** Returns the key of a row of `event_quotas`. A tenant id contains no line break, so the key is unambiguous. */
export function chargeKey(tenantId: string, monthStartS: number): string {
  return `${tenantId}\n${monthStartS}`;
}
