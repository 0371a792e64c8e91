import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isWellFormedApiKey } from '../../kernel/api-key-text.js';
import { bearerToken } from './access.js';
import { isConsoleRequest } from './console-requests.js';

/** Cookie of the console with the SHA-256 of the session's key in hex. It only selects the cell of a request. */
const ROUTE_COOKIE = 'tollgate_route';
const ROUTE_COOKIE_VALUE = /(?:^|;) *tollgate_route=([0-9a-f]{64}) *(?:;|$)/;

/** Returns the address in a request: its API key or, with the service key, the id of a project or tenant. */
export function addressOf(request: FastifyRequest): string | undefined {
  const { authorization } = request.headers;
  const isOfConsole = authorization === undefined && isConsoleRequest(request.raw);
  if (request.boundPrincipal !== undefined) {
    // Only this cell knows a session of the service key.
    if (isOfConsole) return undefined;
    const { tenant_id: tenantId, project_id: projectId } = request.params as Partial<Record<string, string>>;
    return projectId ?? tenantId;
  }
  if (isOfConsole) return addressOfSession(request);
  const token = bearerToken(authorization);
  return token === undefined ? undefined : addressOfKey(token);
}

/** Returns the address of an API key; undefined for text that cannot be one. */
export function addressOfKey(text: string): string | undefined {
  return isWellFormedApiKey(text) ? hash('sha256', text, 'hex') : undefined;
}

/** Returns the cookie that sends the requests of a session to the cell of its key. */
export function routeCookie(apiKey: string): string {
  return `${ROUTE_COOKIE}=${hash('sha256', apiKey, 'hex')}`;
}

/** Returns the address of the key of a console session, from its cookie. */
export function addressOfSession({ headers }: FastifyRequest): string | undefined {
  return ROUTE_COOKIE_VALUE.exec(headers.cookie ?? '')?.[1];
}
