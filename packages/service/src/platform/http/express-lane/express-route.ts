import type { FastifyRequest, FastifySchema } from 'fastify';
import type { Static, TSchema, TUndefined } from 'typebox';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { RequestSpan } from '../../tracing/index.js';
import { JSON_TYPE } from '../failures.js';
import type { Access, App } from '../types.js';

/** An admitted request that has arrived completely and is valid by its route's schema. */
export interface ExpressRequest<Params = Readonly<Record<string, string>>, Input = unknown> {
  readonly project: ProjectRef;
  readonly params: Params;
  /** The body of a POST, the query of a GET; undefined for a POST without a body. */
  readonly input: Input;
  /** The bytes that `input` was parsed from; empty without a body. */
  readonly rawBody: Buffer;
  /** The `Idempotency-Key`; undefined without one, and for a route whose schema has no headers. */
  readonly idempotencyKey: string | undefined;
  /** Undefined if the request is not in a trace. */
  readonly span: RequestSpan | undefined;
}

/** An operation, the same on the lane and on Fastify. */
export interface ExpressOperation<Params = Readonly<Record<string, string>>, Input = unknown> {
  /** Status of the response when the operation succeeds. */
  readonly status: 200 | 201 | 202;
  /**
   * Throws when a request is refused regardless of its body. Runs before the body is parsed: refusing a client that
   * retries at once must cost less than serving it.
   */
  precheck?(project: ProjectRef): void;
  /** Resolves to the response: its JSON as text, or an object that is written as JSON. */
  answer(request: ExpressRequest<Params, Input>): Promise<string | object>;
}

interface ExpressRouteBase<Params extends TSchema, Input extends TSchema>
  extends ExpressOperation<Static<Params>, Static<Input>> {
  readonly url: string;
  readonly config: {
    readonly access: Extract<Access, { kind: 'project' }>;
    readonly arbitraryText?: boolean;
    readonly unread?: string;
  };
}

/** A POST with a JSON body. */
interface ExpressPost<Params extends TSchema, Body extends TSchema> extends ExpressRouteBase<Params, Body> {
  readonly method: 'POST';
  readonly bodyLimit: number;
  readonly schema: FastifySchema & { readonly params: Params; readonly body: Body };
}

/** A POST without a body. */
interface ExpressCommand<Params extends TSchema> extends ExpressRouteBase<Params, TUndefined> {
  readonly method: 'POST';
  readonly bodyLimit?: undefined;
  readonly schema: FastifySchema & { readonly params: Params; readonly body?: undefined };
}

/** A GET with a query. */
interface ExpressGet<Params extends TSchema, Query extends TSchema> extends ExpressRouteBase<Params, Query> {
  readonly method: 'GET';
  readonly schema: FastifySchema & { readonly params: Params; readonly querystring: Query };
}

/**
 * Registers an operation that is called far more often than any other. The express lane serves its plain requests,
 * Fastify the rest; clients see no difference. The lane does not run hooks that only some routes have.
 */
export function registerExpressRoute<Params extends TSchema>(app: App, route: ExpressCommand<Params>): void;
export function registerExpressRoute<Params extends TSchema, Input extends TSchema>(
  app: App,
  route: ExpressPost<Params, Input> | ExpressGet<Params, Input>,
): void;
export function registerExpressRoute<Params extends TSchema, Input extends TSchema>(
  app: App,
  route: ExpressPost<Params, Input> | ExpressCommand<Params> | ExpressGet<Params, Input>,
): void {
  const { method, url, config, schema, status, precheck, answer } = route;
  const express = { status, precheck, answer } as ExpressOperation;
  app.route({
    method,
    url,
    ...(route.method === 'GET' || route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    schema: schema as FastifySchema,
    config: { ...config, express },
    ...(precheck === undefined ? {} : { onRequest: async ({ project }) => precheck(project) }),
    handler: async (request, reply) => {
      const { project, span, rawBody = Buffer.of() } = request;
      const params = request.params as Readonly<Record<string, string>>;
      const input = method === 'POST' ? request.body : request.query;
      const idempotencyKey = schema.headers === undefined ? undefined : keyOf(request.headers);
      const response = await express.answer({ project, params, input, rawBody, idempotencyKey, span });
      if (typeof response === 'string') reply.header('content-type', JSON_TYPE);
      return reply.code(status).send(response);
    },
  });
}

/** Returns the key that the schema of the route has checked: one text. */
function keyOf({ 'idempotency-key': key }: FastifyRequest['headers']): string | undefined {
  return key as string | undefined;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `registerExpressRoute`. */
    express?: ExpressOperation;
    /**
     * Member of the body, or of the objects in a list of the body, that the operation reads from the bytes itself: if
     * its value is an object or a list, the parsed body may have an empty one in its place. Needs `arbitraryText`,
     * because texts inside it are not checked.
     */
    unread?: string;
  }
}
