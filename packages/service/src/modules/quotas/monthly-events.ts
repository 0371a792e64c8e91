import { compareText } from '../../kernel/compare-text.js';
import { utcMonthAt } from '../../kernel/period.js';

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
