import { utcMonthAt } from '../../kernel/period.js';
import { EVENT_ID_BYTES } from '../../platform/queue/index.js';
import type { EventGroup } from './event.js';

/** What one batch adds to a row of `event_arrivals`. */
export interface EventArrival {
  readonly tenantId: string;
  /** Calendar month (UTC) in which the events arrived. */
  readonly monthStartS: number;
  eventCount: number;
}

/** Events that were accepted, repeated ones too, by tenant and month; sorted by key, as rows are locked. */
export function arrivalsOf(
  groups: readonly Pick<EventGroup, 'tenantId' | 'receivedAtMs' | 'ids'>[],
): EventArrival[] {
  const arrivals = new Map<string, EventArrival>();
  let month = { startS: 0, endS: 0 };
  for (const { tenantId, receivedAtMs, ids } of groups) {
    const receivedAtS = receivedAtMs / 1_000;
    if (receivedAtS < month.startS || receivedAtS >= month.endS) month = utcMonthAt(receivedAtS);
    const key = `${tenantId}\n${month.startS}`;
    const known = arrivals.get(key);
    const eventCount = ids.length / EVENT_ID_BYTES;
    if (known === undefined) arrivals.set(key, { tenantId, monthStartS: month.startS, eventCount });
    else known.eventCount += eventCount;
  }
  return [...arrivals.values()].sort((a, b) => {
    if (a.tenantId !== b.tenantId) return a.tenantId < b.tenantId ? -1 : 1;
    return a.monthStartS - b.monthStartS;
  });
}
