import {
  CreateLimitRaiseBody,
  closed,
  ErrorBodySchema,
  LimitRaise,
  LimitRaisePage,
  noContent,
  OptionalIdempotencyKeyHeaders,
  PageQuery,
} from '@tollgate/contract';
import { Type } from 'typebox';
import type { Clock } from '../../../../kernel/clock.js';
import { type App, contextOf, pageOf } from '../../../../platform/http/index.js';
import { exactBody, LIMIT_ACCESS, LIMIT_TAG, RouteParams } from '../request-routes.js';
import { isActiveRaise, type RaiseService, raiseAmount } from './service.js';
import type { RaiseRow } from './store.js';

const tags = [LIMIT_TAG];
const url = '/v1/projects/:project_id/subject-routes/:id/raises';
const RaiseParams = Type.Object(
  { ...RouteParams.properties, raise_id: Type.String({ description: 'Raise id, `lra_…`.' }) },
  closed,
);

/** Registers the routes of raises. */
export function registerRaiseRoutes(app: App, raises: RaiseService, clock: Clock): void {
  registerChanges(app, raises, clock);
  app.route({
    method: 'GET',
    url,
    config: LIMIT_ACCESS.read,
    schema: {
      tags,
      summary: 'List the raises of a subject route',
      description: 'Returns the raises newest first, with those that have ended.',
      operationId: 'listLimitRaises',
      params: RouteParams,
      querystring: PageQuery,
      response: { 200: LimitRaisePage },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await raises.list(project, params.id, page);
      const nowMs = clock.nowMs();
      return { raises: items.map((raise) => raiseView(raise, nowMs)), total_count: totalCount, ...page };
    },
  });
}

function registerChanges(app: App, raises: RaiseService, clock: Clock): void {
  app.route({
    method: 'POST',
    url,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Raise a limit for a time',
      description:
        'Adds an amount to a limit of the route until a time, at once and in the open window too. Several raises of ' +
        'one limit add up. On a `*` route, the limit of each subject of the route is raised. Usage that is below a ' +
        'percentage of the raised limit recovers, and usage that is above the limit when the raise ends is alerted, ' +
        'with the next usage of the window.',
      operationId: 'createLimitRaise',
      params: RouteParams,
      headers: OptionalIdempotencyKeyHeaders,
      body: CreateLimitRaiseBody,
      response: { 201: LimitRaise, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const key = request.headers['idempotency-key'];
      const raise = await raises.create(contextOf(request), request.params.id, exactBody(request), key);
      return reply.code(201).send(raiseView(raise, clock.nowMs()));
    },
  });
  app.route({
    method: 'DELETE',
    url: `${url}/:raise_id`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'End a raise of a limit',
      description: 'Ends the raise now. It stays in the list; one that has ended stays as it is.',
      operationId: 'endLimitRaise',
      params: RaiseParams,
      response: { 204: noContent('The raise has ended.') },
    },
    handler: async (request, reply) => {
      const { id: routeId, raise_id: raiseId } = request.params;
      await raises.end(contextOf(request), { routeId, raiseId });
      return reply.code(204).send(null);
    },
  });
}

function raiseView(raise: RaiseRow, nowMs: number): LimitRaise {
  const isNow = isActiveRaise(raise, nowMs);
  return {
    id: raise.id,
    tenant_id: raise.tenant_id,
    project_id: raise.project_id,
    rule_account_id: raise.route_id,
    limit_key: raise.limit_key,
    amount: raiseAmount(raise),
    until: raise.until_ms / 1_000,
    reason: raise.reason,
    status: isNow ? 'active' : 'ended',
    created_by: raise.created_by,
    created_at: Math.floor(raise.from_ms / 1_000),
    ended_at: isNow ? null : Math.floor((raise.ended_at_ms ?? raise.until_ms) / 1_000),
  };
}
