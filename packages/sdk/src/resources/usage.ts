import type {
  CounterListQuery,
  CounterPage,
  DimensionFilter,
  IngestStatus,
  ReprocessRequest,
  ReprocessResponse,
  UsageEvent,
  UsageEventDetail,
  UsageEventList,
  UsageEventQuery,
  UsageEventsExportQuery,
  UsageEventsQuery,
} from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';
import { path } from '../transport.js';
import { everyEntry } from './pages.js';

/** Filters that a query string carries in another form: one metric or several, and conditions on dimensions. */
interface EventFilters {
  readonly metric?: string | readonly string[];
  readonly filters?: Readonly<Record<string, DimensionFilter>>;
}
export type EventsQuery = Omit<UsageEventsQuery, keyof EventFilters> & EventFilters;
export type ExportQuery = Omit<UsageEventsExportQuery, keyof EventFilters> & EventFilters;

const EXPORT = '/usage/events/export';

/** The events that were sent, and how they were rated. */
export class Usage {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /** Returns the totals of counters over their periods, and the amounts so far. */
  counters(query: CounterListQuery = {}, options?: CallOptions): Promise<CounterPage> {
    return this.#transport.get('/counters', query, options);
  }

  /** Returns one page of rated and failed events, newest first. */
  events(query: EventsQuery = {}, options?: CallOptions): Promise<UsageEventList> {
    return this.#transport.get('/usage/events', queryOf(query), options);
  }

  /** Yields every matching event, page after page, newest first. */
  allEvents(
    query: Omit<EventsQuery, 'cursor'> = {},
    options?: CallOptions,
  ): AsyncGenerator<UsageEvent, void> {
    return everyEntry(
      (cursor) => this.events({ ...query, ...cursor }, options),
      (page) => page.events,
    );
  }

  /**
   * Yields all events of a range, oldest first, as the bytes of CSV or NDJSON. A connection that breaks throws a
   * ConnectionError, so an export that ends is complete.
   */
  exportEvents(query: ExportQuery, options?: CallOptions): AsyncGenerator<Uint8Array, void> {
    return this.#transport.stream(EXPORT, queryOf(query), options);
  }

  /** Returns the URL of the same export, for a browser that downloads it within its session. */
  exportUrl(query: ExportQuery): string {
    return this.#transport.urlOf(EXPORT, queryOf(query));
  }

  /**
   * Returns one event as it was sent, and how each number was computed. Right after ingest, `wait_seconds` (at most 10)
   * waits until it is rated.
   */
  event(rawEventId: string, query: UsageEventQuery = {}, options?: CallOptions): Promise<UsageEventDetail> {
    return this.#transport.get(path`/usage/events/${rawEventId}`, query, options);
  }

  /** As `event`, as JSON text: the numbers that were sent keep every digit. */
  eventText(rawEventId: string, query: UsageEventQuery = {}, options?: CallOptions): Promise<string> {
    return this.#transport.getText(path`/usage/events/${rawEventId}`, query, options);
  }

  /** Rates a failed event again, by the current rules. */
  reprocessEvent(rawEventId: string, options?: CallOptions): Promise<ReprocessResponse> {
    return this.#transport.post(path`/usage/events/${rawEventId}/reprocess`, undefined, options);
  }

  /** Rates the failed events of a time range again. */
  reprocessEvents(request: ReprocessRequest, options?: CallOptions): Promise<ReprocessResponse> {
    return this.#transport.post('/usage/events/reprocess', request, options);
  }

  ingestStatus(options?: CallOptions): Promise<IngestStatus> {
    return this.#transport.get('/usage/ingest-status', {}, options);
  }
}

/** A query string carries conditions as JSON. */
function queryOf({ filters, ...rest }: EventsQuery | ExportQuery): object {
  return filters === undefined ? rest : { ...rest, filters: JSON.stringify(filters) };
}
