import {
  CreateUsageLimitPlanBody,
  closed,
  ErrorBodySchema,
  PageQuery,
  ProjectParams,
  UpdateUsageLimitPlanBody,
  UsageLimitPlan,
  UsageLimitPlanDetail,
  UsageLimitPlanListQuery,
  UsageLimitPlanPage,
  UsageLimitPlanVersion,
  UsageLimitPlanVersionPage,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, contextOf, pageOf } from '../../../../platform/http/index.js';
import { exactBody, LIMIT_ACCESS, LIMIT_TAG } from '../request-routes.js';
import type { PlanService, PlanState } from './service.js';
import { planView, versionView } from './view.js';

const tags = [LIMIT_TAG];
const url = '/v1/projects/:project_id/usage-limit-plans';
const paramsWith = (description: string) =>
  Type.Object({ ...ProjectParams.properties, id: Type.String({ description }) }, closed);
const PlanParams = paramsWith(
  'Id of the plan (`ulp_…`) or of any of its versions (`ulpv_…`), as lists and `publish` return it.',
);
const CurrentPlanParams = paramsWith(
  'Id of the plan (`ulp_…`), of its active version or of its draft (`ulpv_…`). The id of an earlier version returns 400 and names the plan.',
);

/** Registers the routes of usage limit plans. */
export function registerPlanRoutes(app: App, plans: PlanService): void {
  registerLists(app, plans);
  registerSaves(app, plans);
  registerTransitions(app, plans);
}

function registerLists(app: App, plans: PlanService): void {
  app.route({
    method: 'GET',
    url,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'List usage limit plans',
      description:
        'Returns limit plans newest first, each with its newest published version or, without one, with its draft ' +
        'and revision 0. Without `archived` and `published`, returns plans that are not archived. `total_count` ' +
        'counts the plans that match `search`.',
      operationId: 'listUsageLimitPlans',
      params: ProjectParams,
      querystring: UsageLimitPlanListQuery,
      response: { 200: UsageLimitPlanPage },
    },
    handler: async ({ project, query }) => {
      const { archived: isArchived = false, published: isPublished = false, search = '', ...range } = query;
      const page = pageOf(range);
      const { items, totalCount } = await plans.list(project, { isArchived, isPublished, search }, page);
      return { usage_limit_plans: items.map(versionView), total_count: totalCount, ...page };
    },
  });

  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: LIMIT_ACCESS.read,
    schema: {
      tags,
      summary: 'Read a usage limit plan',
      description:
        'Returns the plan with its newest published version and its draft; either is null if there is none.',
      operationId: 'getUsageLimitPlan',
      params: PlanParams,
      response: { 200: UsageLimitPlanDetail },
    },
    handler: async ({ project, params }) => detailOf(await plans.read(project, params.id)),
  });

  app.route({
    method: 'GET',
    url: `${url}/:id/versions`,
    config: LIMIT_ACCESS.read,
    schema: {
      tags,
      summary: 'List the versions of a usage limit plan',
      description: 'Returns the draft, if there is one, with revision 0; then every revision, newest first.',
      operationId: 'listUsageLimitPlanVersions',
      params: PlanParams,
      querystring: PageQuery,
      response: { 200: UsageLimitPlanVersionPage },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await plans.listVersions(project, params.id, page);
      return { versions: items.map(versionView), total_count: totalCount, ...page };
    },
  });
}

function registerSaves(app: App, plans: PlanService): void {
  app.route({
    method: 'POST',
    url,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Create a usage limit plan',
      description:
        'Creates a draft and checks it. Once it is published, subject routes can be bound to the plan.',
      operationId: 'createUsageLimitPlan',
      params: ProjectParams,
      body: CreateUsageLimitPlanBody,
      response: { 201: UsageLimitPlan, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const plan = await plans.create(contextOf(request), exactBody(request));
      return reply.code(201).send(planView(plan));
    },
  });

  app.route({
    method: 'PUT',
    url: `${url}/:id`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Change the draft of a usage limit plan',
      description:
        'Fields that are left out keep their values. If there is no draft, one is created as a copy of the active ' +
        'version, which stays active until the draft is published. A rule that keeps its `limit_key` keeps its ' +
        'counter.',
      operationId: 'updateUsageLimitPlan',
      params: CurrentPlanParams,
      body: UpdateUsageLimitPlanBody,
      response: { 200: UsageLimitPlanDetail, 409: ErrorBodySchema },
    },
    handler: async (request) =>
      detailOf(await plans.update(contextOf(request), request.params.id, exactBody(request))),
  });
}

function registerTransitions(app: App, plans: PlanService): void {
  app.route({
    method: 'POST',
    url: `${url}/:id/publish`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Publish the draft of a usage limit plan',
      description:
        'Publishes the draft as the next revision, which never changes. It applies to every route of the plan at ' +
        'once, except that a new `limit_amount` applies from the next window on.',
      operationId: 'publishUsageLimitPlan',
      params: CurrentPlanParams,
      response: { 200: UsageLimitPlanVersion, 409: ErrorBodySchema },
    },
    handler: async (request) => versionView(await plans.publish(contextOf(request), request.params.id)),
  });

  app.route({
    method: 'POST',
    url: `${url}/:id/archive`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Archive a usage limit plan',
      description:
        'Archives the plan: it can no longer be bound to routes, changed or published. Routes that are bound to it ' +
        'keep its published limits. Archiving an archived plan changes nothing.',
      operationId: 'archiveUsageLimitPlan',
      params: CurrentPlanParams,
      response: { 200: UsageLimitPlan },
    },
    handler: async (request) => planView(await plans.archive(contextOf(request), request.params.id)),
  });

  app.route({
    method: 'POST',
    url: `${url}/:id/restore`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Restore an archived usage limit plan',
      description:
        'Restores the plan: it is published again or, if it was never published, a draft. Counters are not reset. ' +
        'Restoring an active plan changes nothing.',
      operationId: 'restoreUsageLimitPlan',
      params: CurrentPlanParams,
      response: { 200: UsageLimitPlan },
    },
    handler: async (request) => planView(await plans.restore(contextOf(request), request.params.id)),
  });
}

function detailOf({ plan, published, draft }: PlanState): UsageLimitPlanDetail {
  return {
    ...planView(plan),
    published: published === undefined ? null : versionView(published),
    draft: draft === undefined ? null : versionView(draft),
  };
}
