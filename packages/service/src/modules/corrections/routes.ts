import {
  ApplyCorrectionRequest,
  Correction,
  CorrectionAccepted,
  CorrectionPage,
  CorrectionRequest,
  CorrectionStarted,
  CorrectionsQuery,
  closed,
  DeleteCorrectionQuery,
  ErrorBodySchema,
  type IngestEvent,
  Nullable,
  OptionalIdempotencyKeyHeaders,
  ProjectParams,
  ReplaceEventRequest,
  RevertCorrectionRequest,
  VoidEventRequest,
} from '@tollgate/contract';
import { Type } from 'typebox';
import type { Clock } from '../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { parseRawEventId } from '../../kernel/id.js';
import { type App, contextOf, pageOf } from '../../platform/http/index.js';
import { EventCheck } from '../ingest/index.js';
import { EventBody } from '../pipeline/index.js';
import { EventParams } from '../usage/index.js';
import type { Replacement } from './correction.js';
import type { Corrections } from './requests.js';

export interface CorrectionRouteDeps {
  readonly corrections: Corrections;
  readonly clock: Clock;
}

const tags = ['Usage'];
const toRead = { access: { kind: 'project', permission: 'usage:read' } } as const;
const toCorrect = { access: { kind: 'project', permission: 'usage:correct' } } as const;
const url = '/v1/projects/:project_id/usage/corrections';
const eventUrl = '/v1/projects/:project_id/usage/events/:raw_event_id';
const headers = OptionalIdempotencyKeyHeaders;
const OneParams = Type.Object(
  { ...ProjectParams.properties, id: Type.String({ description: 'Correction id.' }) },
  closed,
);

const NOT_RATED =
  'An event that is not found returns 409 `event_not_rated` as long as events of the project wait to be rated, and 404 ' +
  'otherwise.';

/** Routes of corrections of usage. */
export function registerCorrectionRoutes(app: App, deps: CorrectionRouteDeps): void {
  registerEventCorrections(app, deps);
  registerReadRoutes(app, deps);
  registerCreateRoute(app, deps);
  registerChangeRoutes(app, deps);
}

function registerEventCorrections(app: App, { corrections, clock }: CorrectionRouteDeps): void {
  app.route({
    method: 'POST',
    url: `${eventUrl}/void`,
    config: toCorrect,
    schema: {
      tags,
      summary: 'Void an event',
      description:
        'Takes the event back: its amounts return to the account that was debited, and it counts in no limit, chart ' +
        'or total any more. The event stays readable, with all its revisions. To void a voided event changes nothing. ' +
        NOT_RATED,
      operationId: 'voidUsageEvent',
      params: EventParams,
      headers,
      body: VoidEventRequest,
      response: { 202: CorrectionAccepted, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const accepted = await corrections.voidEvent(
        callerOf(request),
        eventIdOf(request),
        request.body.reason,
      );
      return reply.code(202).send(accepted);
    },
  });
  app.route({
    method: 'POST',
    url: `${eventUrl}/replace`,
    // raw_json belongs to the client, as in ingest.
    config: { ...toCorrect, arbitraryText: true },
    schema: {
      tags,
      summary: 'Replace the content of an event',
      description:
        'Rates the event again with the content of the request, by the versions of rules that are published now and ' +
        'active at its `occurred_at`, which stays as it is. The difference is posted. If the new content cannot be ' +
        'rated, the correction fails and the event stays as it was. ' +
        NOT_RATED,
      operationId: 'replaceUsageEvent',
      params: EventParams,
      headers,
      body: ReplaceEventRequest,
      response: { 202: CorrectionAccepted, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const { reason, ...content } = request.body;
      const rawBody = request.rawBody ?? Buffer.of();
      checkContent(content as Partial<IngestEvent>, rawBody, clock);
      const accepted = await corrections.replaceEvent(
        callerOf(request),
        eventIdOf(request),
        replacementOf(rawBody),
        reason,
      );
      return reply.code(202).send(accepted);
    },
  });
}

function registerReadRoutes(app: App, { corrections }: CorrectionRouteDeps): void {
  app.route({
    method: 'GET',
    url,
    config: toRead,
    schema: {
      tags,
      summary: 'List corrections',
      description:
        'Returns corrections newest first, including those of single events, without their totals.',
      operationId: 'listCorrections',
      params: ProjectParams,
      querystring: CorrectionsQuery,
      response: { 200: CorrectionPage },
    },
    handler: async ({ project, query }) => {
      const page = pageOf(query);
      const { status, raw_event_id: text } = query;
      const eventId = text === undefined ? undefined : parseRawEventId(text);
      if (text !== undefined && eventId === undefined) {
        throw invalidRequest('raw_event_id', 'is not the id of an event');
      }
      const { items, totalCount } = await corrections.list(project, { status, eventId }, page);
      return { corrections: items, total_count: totalCount, ...page };
    },
  });
  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: toRead,
    schema: {
      tags,
      summary: 'Read a correction',
      description: 'Returns the progress of a correction, and what it changes.',
      operationId: 'getCorrection',
      params: OneParams,
      response: { 200: Correction },
    },
    handler: ({ project, params }) => corrections.read(project, params.id),
  });
}

function registerCreateRoute(app: App, { corrections }: CorrectionRouteDeps): void {
  app.route({
    method: 'POST',
    url,
    config: toCorrect,
    schema: {
      tags,
      summary: 'Correct many events',
      description:
        'Plans what rating the events again, or voiding them, would change, and applies it, or stops at the plan with ' +
        '`dry_run`. Events that arrive meanwhile are not part of it. An event whose result would be the same is not changed.',
      operationId: 'createCorrection',
      params: ProjectParams,
      headers,
      body: CorrectionRequest,
      response: { 202: CorrectionStarted, 409: ErrorBodySchema },
    },
    handler: async (request, reply) =>
      reply.code(202).send(await corrections.create(callerOf(request), request.body)),
  });
}

function registerChangeRoutes(app: App, { corrections }: CorrectionRouteDeps): void {
  app.route({
    method: 'POST',
    url: `${url}/:id/apply`,
    config: toCorrect,
    schema: {
      tags,
      summary: 'Apply a planned correction',
      description:
        'Posts exactly what was planned. If an event was changed since the plan, the correction ends as `stale`; ' +
        '`applied` says what is in force. Charge items by the total of a counter are posted as planned, too, unless ' +
        '`counters` is `current`. To apply it again changes nothing.',
      operationId: 'applyCorrection',
      params: OneParams,
      headers,
      body: Nullable(ApplyCorrectionRequest),
      response: { 202: Correction, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      return reply.code(202).send(await corrections.apply(callerOf(request), id, request.body ?? {}));
    },
  });
  app.route({
    method: 'POST',
    url: `${url}/:id/revert`,
    config: toCorrect,
    schema: {
      tags,
      summary: 'Revert a correction',
      description:
        'Gives every event its former revision again, by counter-entries. Returns 409 `correction_superseded` if a ' +
        'later correction has changed one of them and was not reverted. To revert it again changes nothing.',
      operationId: 'revertCorrection',
      params: OneParams,
      headers,
      body: Nullable(RevertCorrectionRequest),
      response: { 202: Correction, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      return reply.code(202).send(await corrections.revert(callerOf(request), id, request.body?.reason));
    },
  });
  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    config: toCorrect,
    schema: {
      tags,
      summary: 'Delete a plan',
      description: 'Ends a plan that was not applied; its status becomes `expired`.',
      operationId: 'deleteCorrection',
      params: OneParams,
      headers,
      querystring: DeleteCorrectionQuery,
      response: { 200: Correction, 409: ErrorBodySchema },
    },
    handler: (request) => corrections.discard(callerOf(request), request.params.id, request.query.reason),
  });
}

type CorrectionHttpRequest = Parameters<typeof contextOf>[0] & {
  readonly headers: { readonly 'idempotency-key'?: string | string[] | undefined };
};

function callerOf(request: CorrectionHttpRequest) {
  const { project, principal, requestId } = contextOf(request);
  const key = request.headers['idempotency-key'];
  return { project, principal, requestId, key: typeof key === 'string' ? key : undefined };
}

/** @throws DomainError `not_found` for text that is not the id of an event */
function eventIdOf({ params }: { readonly params: { readonly raw_event_id: string } }): string {
  const id = parseRawEventId(params.raw_event_id);
  if (id === undefined) throw new DomainError('not_found');
  return id;
}

/** Any time: that of the event stays as it is. */
const ANY_TIME = { ageDaysMax: 36_500, aheadDaysMax: 36_500 };

/** Checks the new content of an event as ingest does. @throws DomainError with every problem */
function checkContent(content: Partial<IngestEvent>, rawBody: Buffer, clock: Clock): void {
  const event = { ...content, source: 'x', occurred_at: Math.floor(clock.nowMs() / 1_000) } as IngestEvent;
  new EventCheck(event, rawBody, ANY_TIME, clock).single(event);
}

/** Reads the new content of an event from the body, with every digit as it was sent. */
function replacementOf(rawBody: Buffer): Replacement {
  const { rawJsonText, metadata, xBilling, facts } = new EventBody(rawBody, 'single', 1, '').envelope(0);
  return {
    rawJson: typeof rawJsonText === 'string' ? rawJsonText : Buffer.from(rawJsonText).toString('utf8'),
    metadata,
    xBilling,
    subject: facts.subject ?? null,
  };
}
