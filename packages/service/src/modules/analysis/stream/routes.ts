import {
  AnalysisQuery,
  ProjectParams,
  STREAM_ROWS_MAX,
  STREAMS_PER_KEY_MAX,
  StreamQueryString,
} from '@tollgate/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../../kernel/errors.js';
import { type App, embeddedJson, errorAtPath, Slots } from '../../../platform/http/index.js';
import { addReadGauge, type Metrics } from '../../../platform/metrics/index.js';
import { normalizeQuery } from '../normalize.js';
import { followedQueries, type SavedQueries } from './followed-queries.js';
import { parsePosition } from './frames.js';
import type { LiveStreams, StreamClient } from './live-streams.js';

export interface StreamRouteDeps {
  readonly streams: Pick<LiveStreams, 'open' | 'close'>;
  readonly charts: SavedQueries;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Upper bound of the streams of all keys in one process. */
const STREAMS_MAX = 200;
/** A client with more unsent bytes than this counts as behind. */
const WAITING_BYTES_MAX = 65_536;

const readQuery = embeddedJson(AnalysisQuery);

/** Registers the stream of analysis queries that follow new usage. */
export function registerStreamRoutes(app: App, { streams, charts, clock, metrics }: StreamRouteDeps): void {
  const slots = new Slots({ what: 'streams', perKeyMax: STREAMS_PER_KEY_MAX, totalMax: STREAMS_MAX });
  addReadGauge(metrics, 'tollgate_analysis_streams', 'Open streams of analysis queries.', () => slots.taken);
  app.addHook('preClose', async () => streams.close());
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/analysis/stream',
    exposeHeadRoute: false,
    config: { access: { kind: 'project', permission: 'analytics:read' }, isLong: true },
    schema: {
      tags: ['Analysis'],
      summary: 'Follow queries and charts',
      description:
        'Server-sent events, at most one per query and second: `ready` when it begins, `buckets` with all rows of those buckets of ' +
        `a query that may have changed (\`StreamBuckets\`), \`reset\` when queries must be asked anew: after too long a ` +
        `pause, or when more than ${STREAM_ROWS_MAX} rows changed. Query after \`ready\`, then put each \`buckets\` in the place of ` +
        'what you hold. `Last-Event-ID` resumes within ten minutes. ' +
        `A key may have ${STREAMS_PER_KEY_MAX} streams at once.`,
      operationId: 'followQueries',
      params: ProjectParams,
      querystring: StreamQueryString,
      response: {
        200: {
          description:
            'A stream of events, until the client disconnects, its key becomes invalid, or the service stops.',
          content: { 'text/event-stream': { schema: Type.String() } },
        },
      },
    },
    handler: async (request, reply) => {
      const since = sinceOf(request.headers['last-event-id']);
      const { query = [], chart_id: chartIds = [], last_seconds: lastSeconds } = request.query;
      const queries = await followedQueries(charts, request.project, {
        queries: query.map((text, index) => queryOf(text, `query[${index}]`, clock)),
        chartIds,
        lastSeconds,
      });
      // The end of a connection that has ended already would never be noticed.
      if (reply.raw.destroyed) return reply.hijack();
      const gone = slots.take(request.principal, reply);
      const isAllowed = () => app.isStillAllowed(request);
      await streams.open({ scope: request.project, queries, since }, gone, () => connect(reply, isAllowed));
    },
  });
}

/** Checks everything here, so that nothing can be refused once the stream has begun. */
function queryOf(text: string, path: string, clock: Clock): AnalysisQuery {
  const query = readQuery(text, path);
  try {
    normalizeQuery(query, unixSeconds(clock));
  } catch (error) {
    throw error instanceof DomainError ? errorAtPath(path, error) : error;
  }
  return query;
}

function sinceOf(lastEventId: FastifyRequest['headers'][string]): number | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  const position = parsePosition(String(lastEventId));
  if (position === undefined)
    throw invalidRequest('Last-Event-ID', 'must be the id of an event of this stream');
  return position;
}

function connect(reply: FastifyReply, isAllowed: () => Promise<boolean>): StreamClient {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Proxies that buffer responses would hold events back.
    'x-accel-buffering': 'no',
  });
  return {
    get isBehind() {
      return raw.writableLength > WAITING_BYTES_MAX;
    },
    write: (text) => void raw.write(text),
    end: () => {
      raw.end();
      // A client that reads nothing does not read the end either.
      if (raw.writableLength > WAITING_BYTES_MAX) raw.destroy();
    },
    isAllowed,
  };
}
