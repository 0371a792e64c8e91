import {
  CreateSubjectRouteBody,
  ErrorBodySchema,
  noContent,
  ProjectParams,
  SavedSubjectRoute,
  SubjectRoute,
  SubjectRouteListQuery,
  SubjectRoutePage,
  UpdateSubjectRouteBody,
  warningsOf,
} from '@tollgate/contract';
import type { ProjectRef } from '../../../../kernel/scope.js';
import { type App, contextOf, pageOf } from '../../../../platform/http/index.js';
import type { OtherSubjectTypes } from '../change.js';
import { LIMIT_ACCESS, LIMIT_TAG, RouteParams } from '../request-routes.js';
import { parentView } from './parents.js';
import type { SubjectRouteService } from './service.js';
import type { RouteRow } from './store.js';

const tags = [LIMIT_TAG];
const url = '/v1/projects/:project_id/subject-routes';

export interface SubjectRouteRoutesDeps {
  readonly subjectRoutes: SubjectRouteService;
  readonly otherSubjectTypes: OtherSubjectTypes;
}

/** Registers the routes of subject routes. */
export function registerSubjectRouteRoutes(app: App, deps: SubjectRouteRoutesDeps): void {
  registerReads(app, deps.subjectRoutes);
  registerWrites(app, deps);
  registerDelete(app, deps.subjectRoutes);
}

function registerReads(app: App, routes: SubjectRouteService): void {
  app.route({
    method: 'GET',
    url,
    config: LIMIT_ACCESS.read,
    schema: {
      tags,
      summary: 'List subject routes',
      description: 'Returns routes newest first; a route must match all filters.',
      operationId: 'listSubjectRoutes',
      params: ProjectParams,
      querystring: SubjectRouteListQuery,
      response: { 200: SubjectRoutePage },
    },
    handler: async ({ project, query }) => {
      const { limit: _, offset: _offset, parent_subject_type, parent_subject_id, ...others } = query;
      const page = pageOf(query);
      const filter = { ...others, parent_type: parent_subject_type, parent_id: parent_subject_id };
      const { items, totalCount } = await routes.list(project, filter, page);
      return { subject_routes: items.map(routeView), total_count: totalCount, ...page };
    },
  });

  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: LIMIT_ACCESS.read,
    schema: {
      tags,
      summary: 'Read a subject route',
      description: 'One route by its id.',
      operationId: 'getSubjectRoute',
      params: RouteParams,
      response: { 200: SubjectRoute },
    },
    handler: async ({ project, params }) => routeView(await routes.read(project, params.id)),
  });
}

function registerWrites(
  app: App,
  { subjectRoutes: routes, otherSubjectTypes }: SubjectRouteRoutesDeps,
): void {
  const savedAnswer = async (project: ProjectRef, route: RouteRow) => {
    const { subject_type: type } = route;
    const known = await otherSubjectTypes(project, type);
    const warnings = known === undefined ? [] : warningsOf('unknown_subject_type', [type], known);
    return { ...routeView(route), warnings };
  };
  app.route({
    method: 'POST',
    url,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Create a subject route',
      description:
        'Assigns an account and limits to a subject. Usage counts from then on. With `subject_id` `*`, the route ' +
        'applies to every subject of the type without a route of its own; each subject has its own windows. With ' +
        '`parent`, usage counts at every level of the chain, checks and leases ask all of them, and the nearest ' +
        'account is debited. 409 `subject_cycle` or `subject_too_deep` refuses a wrong chain.',
      operationId: 'createSubjectRoute',
      params: ProjectParams,
      body: CreateSubjectRouteBody,
      response: { 201: SavedSubjectRoute, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const route = await routes.create(contextOf(request), request.body);
      return reply.code(201).send(await savedAnswer(request.project, route));
    },
  });

  app.route({
    method: 'PUT',
    url: `${url}/:id`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Change a subject route',
      description:
        'Fields that are left out keep their values; `usage_limit_plan_id: null` unbinds the plan. The id of an ' +
        'archived plan is accepted if the route is already bound to it. Another anchor, timezone or week start ' +
        'moves the windows: windows whose start moves restart from zero. Another `parent` applies to usage that is ' +
        'rated from now on; `parent: null` detaches the subject, and opens an account if it has none. 409 ' +
        '`route_has_children` refuses another subject as long as the former one is the parent of routes.',
      operationId: 'updateSubjectRoute',
      params: RouteParams,
      body: UpdateSubjectRouteBody,
      response: { 200: SavedSubjectRoute, 409: ErrorBodySchema },
    },
    handler: async (request) => {
      const route = await routes.update(contextOf(request), request.params.id, request.body);
      return savedAnswer(request.project, route);
    },
  });
}

function registerDelete(app: App, routes: SubjectRouteService): void {
  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    config: LIMIT_ACCESS.write,
    schema: {
      tags,
      summary: 'Delete a subject route',
      description:
        'Deletes the route and its direct limits. The account, its usage and its ledger are kept. From then on ' +
        'usage of the subject has no route, unless a `*` route applies to it. 409 `route_has_children` refuses to ' +
        'delete the route of a parent.',
      operationId: 'deleteSubjectRoute',
      params: RouteParams,
      response: {
        204: noContent('The subject route and its direct limits are deleted.'),
        409: ErrorBodySchema,
      },
    },
    handler: async (request, reply) => {
      await routes.delete(contextOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  });
}

function routeView({ plan_bound_at_ms: _, parent_type, parent_id, ...route }: RouteRow): SubjectRoute {
  return { ...route, parent: parentView({ parent_type, parent_id }) };
}
