import { closed } from '@tollgate/contract';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { parseJson } from '../../kernel/json.js';
import type { ChangeContext } from './change.js';

/** Section of the API description. */
export const LIMIT_TAG = 'Limits';

export const ProjectParams = Type.Object({ project_id: Type.String() }, closed);

export const LIMIT_ACCESS = {
  read: { access: { kind: 'project', permission: 'usage_control:read' } },
  write: { access: { kind: 'project', permission: 'usage_control:write' } },
} as const;

export function contextOf(request: Pick<FastifyRequest, 'project' | 'principal' | 'id'>): ChangeContext {
  return { project: request.project, principal: request.principal, requestId: request.id };
}

/** The body that the schema has accepted, with every digit that was sent: a number that no double holds is a NumericText. */
export function exactBody<Body>({ body, rawBody }: { body: Body; rawBody?: Buffer | undefined }): Body {
  return rawBody === undefined ? body : (parseJson(rawBody) as Body);
}
