import type { FastifyRequest } from 'fastify';
import type { ChangeContext } from '../../kernel/change-context.js';

/** The change context of a request to a route with access kind `project`. */
export function contextOf(request: Pick<FastifyRequest, 'project' | 'principal' | 'id'>): ChangeContext {
  return { project: request.project, principal: request.principal, requestId: request.id };
}
