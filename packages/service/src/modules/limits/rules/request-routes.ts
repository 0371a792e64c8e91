import { closed, ProjectParams } from '@tollgate/contract';
import { Type } from 'typebox';
import { parseJson } from '../../../kernel/json/json.js';

/** The tag of these operations in the OpenAPI document. */
export const LIMIT_TAG = 'Limits';

/** The path of a subject route. */
export const RouteParams = Type.Object(
  { ...ProjectParams.properties, id: Type.String({ description: 'Route id, `ra_…`.' }) },
  closed,
);

export const LIMIT_ACCESS = {
  read: { access: { kind: 'project', permission: 'usage_control:read' } },
  write: { access: { kind: 'project', permission: 'usage_control:write' } },
} as const;

/** Returns a validated body with every digit that was sent: a number that no double holds becomes a NumericText. */
export function exactBody<Body>({ body, rawBody }: { body: Body; rawBody?: Buffer | undefined }): Body {
  return rawBody === undefined ? body : (parseJson(rawBody) as Body);
}
