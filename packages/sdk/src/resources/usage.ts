import type {
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
import type { ProjectTransport } from '../project-transport.js';
import { path } from '../transport.js';
import { everyEntry } from './pages.js';

/** Filters that a query string holds in another form: one metric or several, and conditions on dimensions. */
interface EventFilters {
  readonly metric?: string | readonly string[];
  readonly filters?: Readonly<Record<string, DimensionFilter>>;
}
export type EventsQuery = Omit<UsageEventsQuery, keyof EventFilters> & EventFilters;
export type ExportQuery = Omit<UsageEventsExportQuery, keyof EventFilters> & EventFilters;

/** The events that were sent, and how they were rated. */
export class Usage {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  /** One page of rated and failed events, newest first. */
  events(query: EventsQuery = {}): Promise<UsageEventList> {
    return this.#transport.get('/usage/events', queryOf(query));
  }

  /** Every event that matches, page after page, newest first. */
  allEvents(query: Omit<EventsQuery, 'cursor'> = {}): AsyncGenerator<UsageEvent, void> {
    return everyEntry(
      (cursor) => this.events({ ...query, ...cursor }),
      (page) => page.events,
    );
  }

  /**
   * All events of a range, oldest first, as CSV or NDJSON: the bytes as they come. One that breaks off throws
   * a ConnectionError; one that ends is whole.
   */
  exportEvents(query: ExportQuery): AsyncGenerator<Uint8Array, void> {
    return this.#transport.stream('/usage/events/export', queryOf(query));
  }

  /**
   * One event with what was sent and how each number came about. Right after ingest, `wait_seconds` (at most
   * 10) waits until it is rated.
   */
  event(rawEventId: string, query: UsageEventQuery = {}): Promise<UsageEventDetail> {
    return this.#transport.get(path`/usage/events/${rawEventId}`, query);
  }

  /** Rates a failed event again, by the rules as they are now. */
  reprocessEvent(rawEventId: string): Promise<ReprocessResponse> {
    return this.#transport.post(path`/usage/events/${rawEventId}/reprocess`);
  }

  /** Rates the failed events of a time range again. */
  reprocessEvents(request: ReprocessRequest): Promise<ReprocessResponse> {
    return this.#transport.post('/usage/events/reprocess', request);
  }

  ingestStatus(): Promise<IngestStatus> {
    return this.#transport.get('/usage/ingest-status');
  }
}

/** The query string holds conditions as JSON. */
function queryOf({ filters, ...rest }: EventsQuery | ExportQuery): object {
  return filters === undefined ? rest : { ...rest, filters: JSON.stringify(filters) };
}
