import { compareText } from '../../kernel/compare-text.js';
import { utcMonthAt } from '../../kernel/period.js';
import { countOrNone, present } from '../../kernel/present.js';
import type { SegmentRecord } from '../../platform/queue/index.js';

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
 * @param usedBefore by `chargeKey`; a quota without an entry has nothing used, or has prepaid all of its charge, which
 * therefore fits below its limit
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
    const before = countOrNone(used.get(key));
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

/** Events of one request. */
export interface ArrivedEvents {
  readonly tenantId: string;
  readonly receivedAtMs: number;
  readonly eventCount: number;
}

/** Events of one tenant that arrived in one calendar month (UTC). */
export interface MonthlyEvents {
  readonly tenantId: string;
  readonly monthStartS: number;
  readonly eventCount: number;
}

/** Adds up events by tenant and month; sorted by key, the order in which rows are locked. */
export function monthlyEvents(arrived: readonly ArrivedEvents[]): MonthlyEvents[] {
  const sums: { tenantId: string; monthStartS: number; eventCount: number }[] = [];
  const months = new Map<number, Map<string, (typeof sums)[number]>>();
  let month = { startS: 0, endS: 0 };
  let byTenant = new Map<string, (typeof sums)[number]>();
  for (const { tenantId, receivedAtMs, eventCount } of arrived) {
    if (eventCount === 0) continue;
    const receivedAtS = receivedAtMs / 1_000;
    if (receivedAtS < month.startS || receivedAtS >= month.endS) {
      month = utcMonthAt(receivedAtS);
      byTenant = months.get(month.startS) ?? new Map();
      months.set(month.startS, byTenant);
    }
    const sum = byTenant.get(tenantId);
    if (sum !== undefined) {
      sum.eventCount += eventCount;
      continue;
    }
    const first = { tenantId, monthStartS: month.startS, eventCount };
    byTenant.set(tenantId, first);
    sums.push(first);
  }
  return sums.sort((a, b) => compareText(a.tenantId, b.tenantId) || a.monthStartS - b.monthStartS);
}
