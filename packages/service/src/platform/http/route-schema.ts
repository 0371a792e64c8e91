import { ErrorBodySchema } from '@tollgate/contract';
import type { RouteOptions } from 'fastify';
import type { JsonSchema } from './api-description/schema.js';
import type { Access } from './types.js';

/** A response that declares its media types itself. */
export interface MediaResponse {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/** Texts of a route in addition to its schemas; every documented route must have all of them. */
export interface Documented {
  hide?: boolean;
  tags?: readonly string[];
  summary?: string;
  description?: string;
  operationId?: string;
  security?: readonly Record<string, readonly string[]>[];
  body?: JsonSchema;
  querystring?: JsonSchema;
  params?: JsonSchema;
  headers?: JsonSchema;
  response?: Record<string, JsonSchema | MediaResponse>;
}

declare module 'fastify' {
  interface FastifySchema
    extends Omit<Documented, 'body' | 'querystring' | 'params' | 'headers' | 'response'> {}
}

/**
 * Completes a route's schema by its access: security, the permission in the description, and the errors that every such
 * route can return. Throws when the route is not documented.
 */
export function completeSchema(route: RouteOptions, access: Access): void {
  const schema = (route.schema ?? {}) as Documented;
  if (schema.hide === true) return;
  for (const name of ['tags', 'summary', 'description', 'operationId', 'response'] as const) {
    if (schema[name] === undefined)
      throw new Error(`Route ${String(route.method)} ${route.url} has no schema.${name}`);
  }
  const errors = alwaysPossibleErrors(route.method !== 'GET', schema, access);
  route.schema = {
    ...schema,
    description: [schema.description, needed(access)].filter(Boolean).join('\n\n'),
    security: access.kind === 'public' ? [] : [{ apiKey: [] }],
    response: {
      ...Object.fromEntries(errors.map((status) => [status, ErrorBodySchema])),
      ...schema.response,
    },
  } as RouteOptions['schema'] & object;
}

function alwaysPossibleErrors(mayHaveBody: boolean, schema: Documented, access: Access): number[] {
  const errors = [400, 500, 503];
  if (access.kind !== 'public') errors.push(401, 429);
  if (access.kind !== 'public' && access.kind !== 'any-key') errors.push(403);
  if (schema.params !== undefined) errors.push(404);
  if (mayHaveBody) errors.push(413, 415);
  return errors;
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
