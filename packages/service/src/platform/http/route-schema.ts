import { ErrorBodySchema } from '@tollgate/contract';
import type { RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import type { Access } from './types.js';

/** The error body under the name that the API description gives it. */
export const NAMED_ERROR: TSchema & { readonly $id: string } = { ...ErrorBodySchema, $id: 'Error' };

/** What each status of an error means, for the API description. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is not valid; `details` say where.',
  401: 'There is no key, or it is malformed, unknown, revoked or expired.',
  403: 'The key lacks the permission, or the plan of the tenant does not allow it.',
  404: "There is no such resource, or it is another tenant's.",
  409: 'The request does not fit the state of the resource; `code` says how.',
  413: 'The body is too large; the message names the limit.',
  415: 'The body is not JSON in UTF-8, or it is compressed.',
  429: 'A quota is used up. Try again after `Retry-After`.',
  500: 'Something went wrong inside. Quote `X-Request-Id` when you report it.',
  502: 'Somebody that the service depends on failed. Try the same request again.',
  503: 'A store is away or the service shuts down; nothing was accepted. Try again after `Retry-After`.',
};

/** What a route says of itself beside its schemas; every documented route must say all of it. */
interface Documented {
  hide?: boolean;
  tags?: readonly string[];
  summary?: string;
  description?: string;
  operationId?: string;
  security?: readonly Record<string, readonly string[]>[];
  body?: unknown;
  querystring?: unknown;
  params?: unknown;
  response?: Record<string, unknown>;
}

declare module 'fastify' {
  interface FastifySchema extends Omit<Documented, 'response'> {}
}

/**
 * Completes a route's schema with what follows from its access: security, the permission in the description, and the
 * errors it can always answer. Throws when the route does not document itself.
 */
export function completeSchema(route: RouteOptions, access: Access): void {
  const schema = (route.schema ?? {}) as Documented;
  if (schema.hide === true) return;
  for (const name of ['tags', 'summary', 'description', 'operationId', 'response'] as const) {
    if (schema[name] === undefined)
      throw new Error(`Route ${String(route.method)} ${route.url} has no schema.${name}`);
  }
  const errors = alwaysPossibleErrors(route.method !== 'GET', schema, access);
  const own = Object.fromEntries(
    Object.entries(schema.response ?? {}).map(([status, answer]) => [
      status,
      answer === ErrorBodySchema ? errorAnswer(Number(status)) : answer,
    ]),
  );
  route.schema = {
    ...schema,
    description: [schema.description, needed(access)].filter(Boolean).join('\n\n'),
    security: access.kind === 'public' ? [] : [{ apiKey: [] }],
    response: {
      ...Object.fromEntries(errors.map((status) => [status, errorAnswer(status)])),
      ...own,
    },
  } as RouteOptions['schema'] & object;
}

function alwaysPossibleErrors(mayHaveBody: boolean, schema: Documented, access: Access): number[] {
  const errors = [400, 500, 503];
  if (access.kind !== 'public') errors.push(401);
  if (access.kind !== 'public' && access.kind !== 'any-key') errors.push(403);
  if (schema.params !== undefined) errors.push(404);
  if (mayHaveBody) errors.push(413, 415);
  return errors;
}

function errorAnswer(status: number): object {
  const schema = { $ref: `${NAMED_ERROR.$id}#` };
  return { description: MEANINGS[status] ?? 'An error.', content: { 'application/json': { schema } } };
}

function needed(access: Access): string {
  switch (access.kind) {
    case 'project':
      return `Needs ${[access.permission]
        .flat()
        .map((permission) => `\`${permission}\``)
        .join(' and ')}.`;
    case 'tenant':
      return 'Needs the service key, or a key of this tenant with `tenant:admin`.';
    case 'service':
      return 'Needs the service key.';
    case 'any-key':
      return 'Any valid key.';
    case 'public':
      return 'No key.';
  }
}
