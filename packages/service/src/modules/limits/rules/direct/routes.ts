import {
  closed,
  DirectLimit,
  DirectLimitPage,
  ErrorBodySchema,
  LimitRuleInput,
  noContent,
  PageQuery,
  UpdateDirectLimitBody,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, contextOf, pageOf } from '../../../../platform/http/index.js';
import { exactBody, LIMIT_ACCESS, LIMIT_TAG, RouteParams } from '../request-routes.js';
import { ruleView } from '../rule-view.js';
import type { DirectLimitService } from './service.js';
import type { DirectLimitRow } from './store.js';

const tags = [LIMIT_TAG];
const url = '/v1/projects/:project_id/subject-routes/:id/limits';
const LimitParams = Type.Object(
  { ...RouteParams.properties, limit_id: Type.String({ description: 'Limit id, `racl_…`.' }) },
  closed,
);

/** Registers the routes of direct limits. */
export function registerDirectLimitRoutes(app: App, limits: DirectLimitService): void {
  registerReads(app, limits);
  registerWrites(app, limits);
}

function registerReads(app: App, limits: DirectLimitService): void {
  app.route({
    method: 'GET',
    url,
    config: LIMIT_ACCESS.read,
    schema: {
      tags,
      summary: 'List the direct limits of a subject route',
      description: 'Returns the direct limits oldest first, without the rules of the limit plan.',
      operationId: 'listDirectLimits',
      params: RouteParams,
      querystring: PageQuery,
      response: { 200: DirectLimitPage },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await limits.list(project, params.id, page);
      return { limits: items.map(limitView), total_count: totalCount, ...page };
    },
  });

  app.route({
    method: 'GET',
    url: `${url}/:limit_id`,
    config: LIMIT_ACCESS.read,
    schema: {
      tags,
      summary: 'Read a direct limit',
      description: 'One limit of the route by its id.',
      operationId: 'getDirectLimit',
      params: LimitParams,
      response: { 200: DirectLimit },
    },
    handler: async ({ project, params }) => limitView(await limits.read(project, params.id, params.limit_id)),
  });
}

function registerWrites(app: App, limits: DirectLimitService): void {
  app.route({
    method: 'POST',
    url,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Create a direct limit',
      description:
        'Creates a limit that applies at once to the subjects of the route, in addition to the rules of its limit ' +
        'plan. Usage counts from then on.',
      operationId: 'createDirectLimit',
      params: RouteParams,
      body: LimitRuleInput,
      response: { 201: DirectLimit, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const limit = await limits.create(contextOf(request), request.params.id, exactBody(request));
      return reply.code(201).send(limitView(limit));
    },
  });

  app.route({
    method: 'PUT',
    url: `${url}/:limit_id`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Change a direct limit',
      description:
        'Fields that are left out keep their values. A new `limit_amount` applies from the next window on or, with ' +
        '`effective: "now"`, already in the current window. A limit with a new period or measure, or a new ' +
        'currency of an amount, restarts from zero.',
      operationId: 'updateDirectLimit',
      params: LimitParams,
      body: UpdateDirectLimitBody,
      response: { 200: DirectLimit, 409: ErrorBodySchema },
    },
    handler: async (request) => {
      const { id, limit_id: limitId } = request.params;
      return limitView(await limits.update(contextOf(request), id, limitId, exactBody(request)));
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:limit_id`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Delete a direct limit',
      description: 'Deletes the limit and its counter.',
      operationId: 'deleteDirectLimit',
      params: LimitParams,
      response: { 204: noContent('The direct limit is deleted.') },
    },
    handler: async (request, reply) => {
      await limits.delete(contextOf(request), request.params.id, request.params.limit_id);
      return reply.code(204).send(null);
    },
  });
}

function limitView(limit: DirectLimitRow): DirectLimit {
  return {
    id: limit.id,
    tenant_id: limit.tenant_id,
    project_id: limit.project_id,
    rule_account_id: limit.route_id,
    ...ruleView(limit),
  };
}
