import type { UsageEvent } from '@tollgate/contract';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { ProjectHistory } from '../storage/index.js';
import type { EventFilter } from './event-filter.js';
import { matches } from './event-list.js';
import { eventPortions } from './event-portions.js';
import { matchingIds, type UsageScope } from './event-store.js';
import { toUsageEvent } from './event-view.js';

/** Upper bound of the events that are looked up at once. */
export const EXPORT_PAGE_EVENTS = 1_000;

/**
 * Yields all matching events, oldest first by (occurred_at, raw_event_id), in portions; each is read when it is needed.
 * For a reprocessed or corrected event its current row counts, as of the time at which its portion is read.
 */
export async function* eventPages(
  clickhouse: Pick<ClickHouse, 'query'>,
  scope: UsageScope,
  filter: EventFilter,
): AsyncGenerator<UsageEvent[], undefined> {
  const history = new ProjectHistory(clickhouse, scope);
  let after: string | undefined;
  for (;;) {
    const page = await matchingIds(history, filter, after, EXPORT_PAGE_EVENTS, 'oldest');
    for await (const { events } of eventPortions(history, page)) {
      const kept = events.filter((event) => matches(event, filter));
      if (kept.length > 0) yield kept.reverse().map(toUsageEvent);
    }
    if (page.isEnd) return;
    after = page.ids.at(-1);
  }
}
