import {
  CreateProjectBody,
  CreateTenantBody,
  Me,
  PageQuery,
  Project,
  ProjectList,
  Tenant,
  TenantList,
  TenantParams,
} from '@tollgate/contract';
import { type App, meOf, pageOf } from '../../platform/http/index.js';
import { registerKeyRoutes } from './key-routes.js';
import type { TenancyService } from './service.js';

export interface TenancyDeps {
  readonly service: TenancyService;
}

const TENANTS = ['Tenants'];
const SERVICE = { access: { kind: 'service' } } as const;
const TENANT_ADMIN = { access: { kind: 'tenant', permission: 'tenant:admin' } } as const;
const ANY_KEY = { access: { kind: 'any-key' } } as const;

/** Registers `/admin/v1/tenants…`, `/v1/me` and `/v1/projects`. */
export function registerTenancyRoutes(app: App, deps: TenancyDeps): void {
  registerTenantRoutes(app, deps);
  registerProjectRoutes(app, deps);
  registerKeyRoutes(app, deps);
  registerOwnRoutes(app, deps);
}

function registerTenantRoutes(app: App, { service }: TenancyDeps): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/tenants',
    config: { ...SERVICE, makesTenant: true },
    schema: {
      tags: TENANTS,
      summary: 'Create a tenant',
      description:
        'Creates a tenant: a company that meters its usage with Tollgate. It owns projects, API keys and ' +
        'everything in them.',
      operationId: 'createTenant',
      body: CreateTenantBody,
      response: { 201: Tenant },
    },
    handler: async (request, reply) => {
      const caller = { principal: request.principal, requestId: request.id };
      return reply.code(201).send(await service.createTenant(request.body, caller));
    },
  });
  app.route({
    method: 'GET',
    url: '/admin/v1/tenants',
    config: SERVICE,
    schema: {
      tags: TENANTS,
      summary: 'List tenants',
      description: 'Oldest first.',
      operationId: 'listTenants',
      querystring: PageQuery,
      response: { 200: TenantList },
    },
    handler: async (request) => {
      const page = pageOf(request.query);
      const { items, totalCount } = await service.listTenants(page);
      return { tenants: items, total_count: totalCount, ...page };
    },
  });
  app.route({
    method: 'GET',
    url: '/admin/v1/tenants/:tenant_id',
    config: SERVICE,
    schema: {
      tags: TENANTS,
      summary: 'Read a tenant',
      description: 'One tenant by its id.',
      operationId: 'getTenant',
      params: TenantParams,
      response: { 200: Tenant },
    },
    handler: async (request) => service.getTenant(request.params.tenant_id),
  });
}

function registerProjectRoutes(app: App, { service }: TenancyDeps): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/tenants/:tenant_id/projects',
    config: TENANT_ADMIN,
    schema: {
      tags: TENANTS,
      summary: 'Create a project',
      description:
        'Creates a project, which has its own events, rules, limits, wallets and charts. `storage` is `dedicated` ' +
        'if the subscription plan gives release projects their own tables.',
      operationId: 'createProject',
      params: TenantParams,
      body: CreateProjectBody,
      response: { 201: Project },
    },
    handler: async (request, reply) => {
      const caller = { principal: request.principal, requestId: request.id };
      const project = await service.createProject(request.params.tenant_id, request.body, caller);
      return reply.code(201).send(project);
    },
  });
  app.route({
    method: 'GET',
    url: '/admin/v1/tenants/:tenant_id/projects',
    config: TENANT_ADMIN,
    schema: {
      tags: TENANTS,
      summary: 'List the projects of a tenant',
      description: 'Oldest first.',
      operationId: 'listTenantProjects',
      params: TenantParams,
      querystring: PageQuery,
      response: { 200: ProjectList },
    },
    handler: async (request) => {
      const page = pageOf(request.query);
      const { items, totalCount } = await service.listProjectsOfTenant(request.params.tenant_id, page);
      return { projects: items, total_count: totalCount, ...page };
    },
  });
}

function registerOwnRoutes(app: App, { service }: TenancyDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/me',
    config: ANY_KEY,
    schema: {
      tags: ['Access'],
      summary: 'Read the identity of my key',
      description: 'Returns the scope and the permissions of the API key of this request.',
      operationId: 'getMe',
      response: { 200: Me },
    },
    handler: async ({ principal }) => meOf(principal),
  });
  app.route({
    method: 'GET',
    url: '/v1/projects',
    config: ANY_KEY,
    schema: {
      tags: ['Access'],
      summary: 'List the projects I can see',
      description:
        'Returns projects oldest first: the project of a project key, all projects of the tenant of a tenant key, ' +
        'or all projects for the service key.',
      operationId: 'listProjects',
      querystring: PageQuery,
      response: { 200: ProjectList },
    },
    handler: async (request) => {
      const page = pageOf(request.query);
      const { items, totalCount } = await service.listVisibleProjects(request.principal, page);
      return { projects: items, total_count: totalCount, ...page };
    },
  });
}
