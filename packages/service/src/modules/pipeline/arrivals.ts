import { utcMonthAt } from '../../kernel/period.js';

/** The numbers that one batch adds to a row of `event_arrivals`. */
export interface EventArrival {
  readonly tenantId: string;
  /** Calendar month (UTC) in which the events arrived. */
  readonly monthStartS: number;
  eventCount: number;
}

/** Events of one request that a batch takes off the queue, repeated ones included. */
export interface ClaimedEvents {
  readonly tenantId: string;
  readonly receivedAtMs: number;
  readonly eventCount: number;
}

/** Adds up events by tenant and month; sorted by key, the order in which rows are locked. */
export function arrivalsOf(taken: readonly ClaimedEvents[]): EventArrival[] {
  const arrivals = new Map<string, EventArrival>();
  let month = { startS: 0, endS: 0 };
  for (const { tenantId, receivedAtMs, eventCount } of taken) {
    if (eventCount === 0) continue;
    const receivedAtS = receivedAtMs / 1_000;
    if (receivedAtS < month.startS || receivedAtS >= month.endS) month = utcMonthAt(receivedAtS);
    const key = `${tenantId}\n${month.startS}`;
    const known = arrivals.get(key);
    if (known === undefined) arrivals.set(key, { tenantId, monthStartS: month.startS, eventCount });
    else known.eventCount += eventCount;
  }
  return [...arrivals.values()].sort((a, b) => {
    if (a.tenantId !== b.tenantId) return a.tenantId < b.tenantId ? -1 : 1;
    return a.monthStartS - b.monthStartS;
  });
}
