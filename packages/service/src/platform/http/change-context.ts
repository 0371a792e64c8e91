import type { FastifyRequest } from 'fastify';
import type { Principal, ProjectRef } from './types.js';

/** Who asks for a change, where, and in which request: what the audit log is to tell. */
export interface ChangeContext {
  readonly project: ProjectRef;
  readonly principal: Principal;
  readonly requestId: string;
}

/** Of a route with access kind `project`. */
export function contextOf(request: Pick<FastifyRequest, 'project' | 'principal' | 'id'>): ChangeContext {
  return { project: request.project, principal: request.principal, requestId: request.id };
}
