import {
  ApiKeyList,
  ApiKeyParams,
  AuditLog,
  AuditLogQuery,
  CreateApiKeyBody,
  CreatedApiKey,
  noContent,
  PageQuery,
  TenantParams,
} from '@tollgate/contract';
import { type App, pageOf } from '../../platform/http/index.js';
import type { TenancyService } from './service.js';

const TAGS = ['Access'];
const TENANT_ADMIN = { access: { kind: 'tenant', permission: 'tenant:admin' } } as const;

/** Registers the routes of API keys and of the audit log. */
export function registerKeyRoutes(app: App, { service }: { readonly service: TenancyService }): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/tenants/:tenant_id/api-keys',
    config: TENANT_ADMIN,
    schema: {
      tags: TAGS,
      summary: 'Create an API key',
      description: 'Returns the new key with its secret. Store the secret: it is not shown again.',
      operationId: 'createApiKey',
      params: TenantParams,
      body: CreateApiKeyBody,
      response: { 201: CreatedApiKey },
    },
    handler: async (request, reply) => {
      const caller = { principal: request.principal, requestId: request.id };
      const key = await service.createKey(request.params.tenant_id, request.body, caller);
      return reply.code(201).header('cache-control', 'no-store').send(key);
    },
  });
  app.route({
    method: 'GET',
    url: '/admin/v1/tenants/:tenant_id/api-keys',
    config: TENANT_ADMIN,
    schema: {
      tags: TAGS,
      summary: 'List API keys',
      description: 'Returns the keys oldest first, without revoked keys.',
      operationId: 'listApiKeys',
      params: TenantParams,
      querystring: PageQuery,
      response: { 200: ApiKeyList },
    },
    handler: async (request) => {
      const page = pageOf(request.query);
      const { items, totalCount } = await service.listKeys(request.params.tenant_id, page);
      return { api_keys: items, total_count: totalCount, ...page };
    },
  });
  app.route({
    method: 'DELETE',
    url: '/admin/v1/tenants/:tenant_id/api-keys/:key_id',
    config: TENANT_ADMIN,
    schema: {
      tags: TAGS,
      summary: 'Revoke an API key',
      description: 'Revokes the key: it stops working within a second. This cannot be undone.',
      operationId: 'revokeApiKey',
      params: ApiKeyParams,
      response: { 204: noContent('The API key is revoked.') },
    },
    handler: async (request, reply) => {
      const caller = { principal: request.principal, requestId: request.id };
      await service.revokeKey(request.params.tenant_id, request.params.key_id, caller);
      return reply.code(204).send(null);
    },
  });
  registerAuditRoute(app, service);
}

function registerAuditRoute(app: App, service: TenancyService): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/tenants/:tenant_id/audit-log',
    config: TENANT_ADMIN,
    schema: {
      tags: TAGS,
      summary: 'Read the audit log',
      description: 'Returns who changed what, and when, newest first. An entry must match all filters.',
      operationId: 'listAuditLog',
      params: TenantParams,
      querystring: AuditLogQuery,
      response: { 200: AuditLog },
    },
    handler: async (request) => {
      const { limit: _limit, offset: _offset, ...filter } = request.query;
      const page = pageOf(request.query);
      const { items, totalCount } = await service.listAuditLog(request.params.tenant_id, page, filter);
      return { entries: items, total_count: totalCount, ...page };
    },
  });
}
