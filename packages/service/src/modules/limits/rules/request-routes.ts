import { parseJson } from '../../../kernel/json/json.js';

/** Section of the API description. */
export const LIMIT_TAG = 'Limits';

export const LIMIT_ACCESS = {
  read: { access: { kind: 'project', permission: 'usage_control:read' } },
  write: { access: { kind: 'project', permission: 'usage_control:write' } },
} as const;

/**
 * The body that the schema has accepted, with every digit that was sent: a number that no double holds is a
 * NumericText.
 */
export function exactBody<Body>({ body, rawBody }: { body: Body; rawBody?: Buffer | undefined }): Body {
  return rawBody === undefined ? body : (parseJson(rawBody) as Body);
}
