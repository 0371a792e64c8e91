import { closed } from '@tollgate/contract';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ChangeContext } from './endpoints.js';

/** What all routes of webhooks share. */
export const ENDPOINTS_URL = '/v1/projects/:project_id/webhook-endpoints';
export const ENDPOINT_URL = `${ENDPOINTS_URL}/:id`;
export const tags = ['Webhooks'];
export const toRead = { access: { kind: 'project', permission: 'webhooks:read' } } as const;
export const toWrite = { access: { kind: 'project', permission: 'webhooks:write' } } as const;

export const ProjectParams = Type.Object({ project_id: Type.String() }, closed);
export const EndpointParams = Type.Object({ project_id: Type.String(), id: Type.String() }, closed);

export function contextOf(request: Pick<FastifyRequest, 'project' | 'principal' | 'id'>): ChangeContext {
  return { project: request.project, principal: request.principal, requestId: request.id };
}
