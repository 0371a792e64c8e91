import { utcMonthAt } from '../../kernel/period.js';
import type { SegmentRecord } from './segment.js';

/** A request whose events are accepted if the quota of its tenant has room for all of them. */
export interface QuotaRecord {
  readonly record: SegmentRecord;
  /** Events that the tenant may have accepted in a calendar month (UTC); -1 for any number. */
  readonly monthlyEventLimit: number;
}

/** A request that a quota had no room for. */
export interface QuotaRefusal {
  /** Its place among the requests. */
  readonly index: number;
  /** Events that the tenant had accepted by then in the month. */
  readonly used: number;
}

/** The amounts that requests add to one row of `event_quotas`. */
export interface QuotaCharge {
  readonly tenantId: string;
  readonly monthStartS: number;
  eventCount: number;
  /** Null for none. */
  eventLimit: number | null;
}

/**
 * The amounts that requests add, by tenant and by the month of their arrival, in the order in which rows are locked. A
 * tenant has one limit: the one that was read last.
 */
export function quotaCharges(records: readonly QuotaRecord[]): QuotaCharge[] {
  const charges: QuotaCharge[] = [];
  const months = new Map<number, Map<string, QuotaCharge>>();
  let month = { startS: 0, endS: 0 };
  let byTenant = new Map<string, QuotaCharge>();
  for (const { record, monthlyEventLimit } of records) {
    const receivedAtS = record.receivedAtMs / 1_000;
    if (receivedAtS < month.startS || receivedAtS >= month.endS) {
      month = utcMonthAt(receivedAtS);
      byTenant = months.get(month.startS) ?? new Map();
      months.set(month.startS, byTenant);
    }
    const { tenantId } = record.scope;
    let charge = byTenant.get(tenantId);
    if (charge === undefined) {
      charge = { tenantId, monthStartS: month.startS, eventCount: 0, eventLimit: null };
      byTenant.set(tenantId, charge);
      charges.push(charge);
    }
    charge.eventCount += record.eventCount;
    charge.eventLimit = monthlyEventLimit < 0 ? null : monthlyEventLimit;
  }
  return charges.sort(byKey);
}

/**
 * Which requests there is room for, decided one after the other: one that is refused leaves its room to those after it.
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

export function chargeKey(tenantId: string, monthStartS: number): string {
  return `${tenantId}\n${monthStartS}`;
}

function byKey(a: QuotaCharge, b: QuotaCharge): number {
  if (a.tenantId !== b.tenantId) return a.tenantId < b.tenantId ? -1 : 1;
  return a.monthStartS - b.monthStartS;
}
