import { ANY_NOTE, LIST_LIMIT_DEFAULT, type UsageEventList, type UsageEventsQuery } from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { invalidCursor, ListCursors } from '../../kernel/cursor.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { ProjectHistory } from '../storage/index.js';
import { isOfItem, meetsCondition } from './dimension-conditions.js';
import type { EventFilter } from './event-filter.js';
import { type EventPortion, eventPortions } from './event-portions.js';
import { matchingIds, type StoredEvent, type UsageScope } from './event-store.js';
import { notesOf, toUsageEvent } from './event-view.js';
import { unpricedUsage } from './unpriced-store.js';

/**
 * Rows of former attempts and revisions, and large events, can keep a page from filling; after this many reads of
 * events it is returned with fewer.
 */
const READS_MAX = 5;
const CHUNK_GROWTH = 4;
const CHUNK_ROWS_MAX = 2_000;
const ID_BYTES = 16;
/** An id begins with the event's time, so it is a position in the list. */
const CURSORS = new ListCursors('usage events', ID_BYTES);

type PageQuery = Pick<UsageEventsQuery, 'limit' | 'cursor' | 'count'>;

/**
 * Returns one page of a project's events, newest first by (occurred_at, raw_event_id). A reprocessed or
 * corrected event is shown, and filtered, by the last attempt of its last revision only.
 */
export async function listEvents(
  clickhouse: Pick<ClickHouse, 'query'>,
  scope: UsageScope,
  { limit = LIST_LIMIT_DEFAULT, cursor, count, ...filter }: EventFilter & PageQuery,
): Promise<UsageEventList> {
  const history = new ProjectHistory(clickhouse, scope);
  const query = cursorQuery(scope, filter);
  const start = cursor === undefined ? undefined : CURSORS.decode(cursor, query)?.toString('hex');
  if (cursor !== undefined && start === undefined) throw invalidCursor();
  const found: StoredEvent[] = [];
  let after: string | undefined;
  let reads = 0;
  for await (const portion of newestFirst(history, filter, start, limit + 1)) {
    found.push(...portion.events.filter((event) => matches(event, filter)));
    after = portion.after;
    reads += 1;
    if (found.length > limit || reads === READS_MAX) break;
  }
  const counted = count === undefined ? {} : { unpriced: await unpricedUsage(history, filter) };
  const events = found.slice(0, limit);
  const last = found.length > limit ? events.at(-1)?.id : after;
  return {
    events: events.map(toUsageEvent),
    next_cursor: last === undefined ? null : CURSORS.encode(Buffer.from(last, 'hex'), query),
    ...counted,
  };
}

/** Current rows of events that may match. */
interface ListPortion extends Pick<EventPortion, 'events'> {
  /** The position after which the list goes on; undefined at its end. */
  readonly after: string | undefined;
}

/**
 * Yields the events from just after `start` to the end of the list; each portion is read when it is needed.
 *
 * @param rows number of rows to look for at first
 */
async function* newestFirst(
  history: ProjectHistory,
  filter: EventFilter,
  start: string | undefined,
  rows: number,
): AsyncGenerator<ListPortion, undefined> {
  let after = start;
  for (let chunkRows = rows; ; chunkRows = Math.min(chunkRows * CHUNK_GROWTH, CHUNK_ROWS_MAX)) {
    const candidates = await matchingIds(history, filter, after, chunkRows);
    const { isEnd } = candidates;
    after = candidates.ids.at(-1);
    if (after === undefined) yield { events: [], after };
    for await (const { events, lastId } of eventPortions(history, candidates)) {
      yield { events, after: isEnd && lastId === after ? undefined : lastId };
    }
    if (isEnd) return;
  }
}

/** Returns the query that a cursor belongs to: with another query, pages would have gaps. */
function cursorQuery({ tenantId, projectId }: UsageScope, filter: EventFilter): string[] {
  const filters = Object.entries(filter).sort(([a], [b]) => compareText(a, b));
  return [tenantId, projectId, ...filters.flatMap(([name, value]) => [name, JSON.stringify(value)])];
}

/** Whether the current row of an event meets the conditions that may differ between its attempts and revisions. */
export function matches(event: StoredEvent, filter: EventFilter): boolean {
  return (
    (filter.status === undefined || event.status === filter.status) &&
    (filter.failure_code === undefined || event.failure_code === filter.failure_code) &&
    (filter.subject_type === undefined || event.subject_type === filter.subject_type) &&
    (filter.subject_id === undefined || event.subject_id === filter.subject_id) &&
    (filter.extractor_rule_set_id === undefined ||
      event.extractor_rule_set_id === filter.extractor_rule_set_id) &&
    hasNote(event, filter) &&
    hasItem(event, filter) &&
    filter.conditions.every((condition) => isOfItem(condition) || meetsCondition(event, condition))
  );
}

function hasNote({ notes }: StoredEvent, { note }: EventFilter): boolean {
  if (note === undefined) return true;
  return notesOf(notes).some(({ code }) => note === ANY_NOTE || code === note);
}

/** Whether one charge item meets all conditions on an item. */
function hasItem(
  { item_metric, item_currency, item_pricing_source }: StoredEvent,
  { metric, currency, pricing_source: source, conditions }: EventFilter,
): boolean {
  const ofItem = conditions.filter(isOfItem);
  if (metric === undefined && currency === undefined && source === undefined && ofItem.length === 0)
    return true;
  return item_metric.some(
    (name, index) =>
      (metric === undefined || metric.includes(name)) &&
      (currency === undefined || item_currency[index] === currency) &&
      (source === undefined || item_pricing_source[index] === source) &&
      ofItem.every((condition) => meetsCondition({ pricing_source: item_pricing_source[index] }, condition)),
  );
}
