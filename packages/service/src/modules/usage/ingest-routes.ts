import {
  ErrorBodySchema,
  IngestStatus,
  ProjectParams,
  REPROCESSES_PER_KEY_MAX,
  ReprocessRequest,
  ReprocessResponse,
} from '@tollgate/contract';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { parseRawEventId } from '../../kernel/id.js';
import { type App, Slots } from '../../platform/http/index.js';
import { ProjectDb } from '../../platform/postgres/index.js';
import { EventParams } from './event-routes.js';
import { type ReprocessDeps, reprocessEvent, reprocessEvents } from './reprocess.js';
import { ingestCounts } from './status-store.js';

/** Upper bound of the requests in one process that queue the failed events of a range. */
const REPROCESSES_MAX = 32;

/** Advice on how to correct rules: an event keeps the price of its time. */
const MENDING =
  'It is rated by the version that is active at its `occurred_at`: publish corrected rules with the ' +
  '`effective_from` of the version that they replace, because the default is the current time.';

/** Routes of the ingest status and of reprocessing failed events. */
export function registerIngestStatusRoutes(app: App, deps: ReprocessDeps): void {
  registerStatusRoute(app, deps);
  registerReprocessRoutes(app, deps);
}

function registerStatusRoute(app: App, deps: ReprocessDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/usage/ingest-status',
    config: { access: { kind: 'project', permission: 'usage:read' } },
    schema: {
      tags: ['Usage'],
      summary: 'Read the progress of processing',
      description:
        'Returns counts of a single moment: `accepted` is always `processed` + `failed` + `voided` + ' +
        '`duplicates` + `pending`. `deferred_count` is part of `pending`.',
      operationId: 'getIngestStatus',
      params: ProjectParams,
      response: { 200: IngestStatus },
    },
    handler: async (request) => {
      const { oldestReceivedAtMs, oldestDeferredAtMs, unpriced, deferred, ...counts } = await ingestCounts(
        new ProjectDb(deps.postgres.db, request.project),
      );
      const { processed, failed, voided, duplicates, pending } = counts;
      const nowMs = deps.clock.nowMs();
      return {
        accepted: processed + failed + voided + duplicates + pending,
        ...counts,
        deferred_count: deferred,
        deferred_lag_seconds: ageSeconds(oldestDeferredAtMs, nowMs),
        unpriced_count: unpriced,
        lag_seconds: ageSeconds(oldestReceivedAtMs, nowMs),
        oldest_received_at: oldestReceivedAtMs === null ? null : Math.floor(oldestReceivedAtMs / 1000),
      };
    },
  });
}

/** Returns 0 when there is no time. */
function ageSeconds(atMs: number | null, nowMs: number): number {
  return atMs === null ? 0 : Math.max(0, Math.ceil((nowMs - atMs) / 1000));
}

function registerReprocessRoutes(app: App, deps: ReprocessDeps): void {
  const slots = new Slots({
    what: 'requests to reprocess a range',
    perKeyMax: REPROCESSES_PER_KEY_MAX,
    totalMax: REPROCESSES_MAX,
  });
  app.addHook('preClose', async () => slots.end());
  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/usage/events/:raw_event_id/reprocess',
    config: { access: { kind: 'project', permission: 'usage:ingest' } },
    schema: {
      tags: ['Usage'],
      summary: 'Reprocess a failed event',
      description: `Rates the event again. ${MENDING} Returns 409 if the event did not fail.`,
      operationId: 'reprocessUsageEvent',
      params: EventParams,
      response: { 202: ReprocessResponse, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const id = parseRawEventId(request.params.raw_event_id);
      if (id === undefined) throw new DomainError('not_found');
      await reprocessEvent(deps, request.project, id);
      return reply.code(202).send({ count: 1 });
    },
  });
  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/usage/events/reprocess',
    config: { access: { kind: 'project', permission: 'usage:ingest' } },
    schema: {
      tags: ['Usage'],
      summary: 'Reprocess failed events',
      description:
        `Rates the failed events of a time range again. ${MENDING} The response is sent when all of them are queued. ` +
        'With very many events, this waits for room in the queue; an interrupted request can be sent again. A key may ' +
        `have ${REPROCESSES_PER_KEY_MAX} such requests at once.`,
      operationId: 'reprocessUsageEvents',
      params: ProjectParams,
      body: ReprocessRequest,
      response: { 202: ReprocessResponse },
    },
    handler: async (request, reply) => {
      const { from, to, code } = request.body;
      if (to <= from) throw invalidRequest('to', 'must be after from');
      const signal = slots.take(request.principal, reply);
      const count = await reprocessEvents(deps, request.project, { from, to, code }, signal);
      return reply.code(202).send({ count });
    },
  });
}
