import type { UsageEvent } from '@tollgate/contract';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { matches } from './event-list.js';
import { type EventFilter, eventsById, matchingIds, type UsageScope } from './event-store.js';
import { toUsageEvent } from './event-view.js';

/** Events that are read at once: what an export holds in memory is a few of these. */
export const EXPORT_PAGE_EVENTS = 1_000;

/**
 * All events that match, oldest first by (occurred_at, raw_event_id), page by page: the next is read when it is asked for. Of an
 * event that was reprocessed the last attempt counts, as of the moment at which its page is read.
 */
export async function* eventPages(
  clickhouse: Pick<ClickHouse, 'query'>,
  scope: UsageScope,
  filter: EventFilter,
): AsyncGenerator<UsageEvent[], undefined> {
  let after: string | undefined;
  for (;;) {
    const page = await matchingIds(clickhouse, scope, filter, after, EXPORT_PAGE_EVENTS, 'oldest');
    if (page.ids.length > 0) {
      const events = await eventsById(clickhouse, scope, page.ids);
      const standing = events.filter((event) => matches(event, filter));
      if (standing.length > 0) yield standing.reverse().map(toUsageEvent);
      after = page.ids.at(-1);
    }
    if (page.isEnd) return;
  }
}
