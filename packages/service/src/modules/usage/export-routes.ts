import { Readable } from 'node:stream';
import {
  EXPORTS_PER_KEY_MAX,
  ProjectParams,
  type UsageEvent,
  UsageEventsExportQuery,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type App, Slots } from '../../platform/http/index.js';
import { addReadGauge, type Metrics } from '../../platform/metrics/index.js';
import type { UsageHistory } from '../storage/index.js';
import { withConditions } from './event-filter.js';
import { readFilters } from './event-routes.js';
import { EXPORT_TEXTS, type ExportText } from './export-format.js';
import { EXPORT_PAGE_EVENTS, eventPages } from './export-pages.js';

export interface ExportRouteDeps {
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly history: UsageHistory;
  readonly metrics: Metrics;
}

/** Upper bound of the exports of all keys in one process. */
const EXPORTS_MAX = 8;
/** A client that reads nothing for this long is disconnected. */
const IDLE_MS_MAX = 60_000;
/** Lines are sent together once they reach this length. */
const CHUNK_CHARS_MIN = 65_536;

/** Registers the export of all events of a range. */
export function registerExportRoutes(app: App, { clickhouse, history, metrics }: ExportRouteDeps): void {
  const slots = new Slots({ what: 'exports', perKeyMax: EXPORTS_PER_KEY_MAX, totalMax: EXPORTS_MAX });
  addReadGauge(metrics, 'tollgate_usage_exports', 'Exports of usage events under way.', () => slots.taken);
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/usage/events/export',
    exposeHeadRoute: false,
    config: { access: { kind: 'project', permission: 'usage:read' }, isLong: true },
    schema: {
      tags: ['Usage'],
      summary: 'Export usage events',
      description:
        'Returns all events of a time range, oldest first by `occurred_at`, as CSV or NDJSON; decimals are exact ' +
        'strings. In CSV, text that a spreadsheet would run as a formula gets an apostrophe in front. Events are ' +
        `read as fast as the client receives them, ${EXPORT_PAGE_EVENTS} at a time or fewer large ones. If the ` +
        'export fails halfway, or its key is revoked, the connection is aborted: a response that ends properly is ' +
        `complete. A key may have ${EXPORTS_PER_KEY_MAX} exports at once.`,
      operationId: 'exportUsageEvents',
      params: ProjectParams,
      querystring: UsageEventsExportQuery,
      response: {
        200: {
          description: 'The events.',
          content: {
            'application/x-ndjson': { schema: Type.String() },
            'text/csv': { schema: Type.String() },
          },
        },
      },
    },
    handler: async (request, reply) => {
      const { format = 'ndjson', ...query } = request.query;
      const filter = withConditions(query, readFilters);
      if (query.to <= query.from) throw invalidRequest('to', 'must be after from');
      const gone = slots.take(request.principal, reply);
      const scope = await history.scopeOf(request.project);
      const pages = eventPages(abortable(clickhouse, gone), scope, filter);
      // An error up to here still gets an ordinary error response.
      const first = await pages.next();
      const text = EXPORT_TEXTS[format];
      const isAllowed = () => app.isStillAllowed(request);
      const body = Readable.from(textsOf(text, first, pages, isAllowed), { objectMode: false });
      // A reset instead of an end: even over a connection without chunks, a broken export must not look like a short
      // one.
      body.once('error', () => reply.raw.socket?.resetAndDestroy());
      reply.raw.setTimeout(IDLE_MS_MAX, () => reply.raw.destroy());
      reply.header('content-type', text.contentType);
      reply.header('content-disposition', `attachment; filename="usage-events.${format}"`);
      reply.header('cache-control', 'no-store');
      // The schema describes the text, and the types would require all of it at once.
      return reply.send(body as never);
    },
  });
}

/** Reads the next events when the last have been taken, and checks whether the key may still read them. */
async function* textsOf(
  { head, linesOf }: ExportText,
  first: IteratorResult<UsageEvent[], undefined>,
  pages: AsyncGenerator<UsageEvent[], undefined>,
  isAllowed: () => Promise<boolean>,
): AsyncGenerator<string> {
  let text = head;
  for (let page = first; page.done !== true; page = await pages.next()) {
    if (!(await isAllowed())) throw new DomainError('unauthenticated');
    for (const event of page.value) {
      for (const line of linesOf(event)) {
        text += line;
        if (text.length < CHUNK_CHARS_MIN) continue;
        yield text;
        text = '';
      }
    }
  }
  if (text !== '') yield text;
}

/** Ends queries when no client waits for their results any more. */
function abortable(clickhouse: Pick<ClickHouse, 'query'>, signal: AbortSignal): Pick<ClickHouse, 'query'> {
  return { query: (sql, params) => clickhouse.query(sql, params, { signal }) };
}
