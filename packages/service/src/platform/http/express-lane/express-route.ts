import type { FastifySchema } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { RequestSpan } from '../../tracing/index.js';
import { JSON_TYPE } from '../failures.js';
import type { Access, App } from '../types.js';

/** An admitted request that has arrived completely and is valid by its route's schema. */
export interface ExpressRequest<Params = Readonly<Record<string, string>>, Body = unknown> {
  readonly project: ProjectRef;
  readonly params: Params;
  readonly body: Body;
  /** The bytes that `body` was parsed from. */
  readonly rawBody: Buffer;
  /** Undefined if the request is not in a trace. */
  readonly span: RequestSpan | undefined;
}

/** An operation, the same on the lane and on Fastify. */
export interface ExpressOperation<Params = Readonly<Record<string, string>>, Body = unknown> {
  /**
   * Throws when a request is refused regardless of its body. Runs before the body is parsed: refusing a client that
   * retries at once must cost less than serving it.
   */
  precheck(project: ProjectRef): void;
  /** Resolves to the JSON of the response. */
  answer(request: ExpressRequest<Params, Body>): Promise<string>;
}

/** A POST with the status 202. */
export interface ExpressRoute<Params extends TSchema, Body extends TSchema>
  extends ExpressOperation<Static<Params>, Static<Body>> {
  readonly url: string;
  readonly config: {
    readonly access: Extract<Access, { kind: 'project' }>;
    readonly arbitraryText?: boolean;
    readonly unread?: string;
  };
  readonly bodyLimit: number;
  readonly schema: FastifySchema & { readonly params: Params; readonly body: Body };
}

/**
 * Registers an operation that is called far more often than any other. The express lane serves its plain requests,
 * Fastify the rest; clients see no difference. The lane does not run hooks that only some routes have.
 */
export function registerExpressRoute<Params extends TSchema, Body extends TSchema>(
  app: App,
  { url, config, bodyLimit, schema, precheck, answer }: ExpressRoute<Params, Body>,
): void {
  const express: ExpressOperation<Static<Params>, Static<Body>> = { precheck, answer };
  app.route({
    method: 'POST',
    url,
    bodyLimit,
    schema: schema as FastifySchema,
    config: { ...config, express: express as ExpressOperation },
    onRequest: async ({ project }) => precheck(project),
    handler: async ({ project, params, body, rawBody, span }, reply) => {
      if (rawBody === undefined) throw new Error('a validated body without its bytes');
      const text = await answer({
        project,
        params: params as Static<Params>,
        body: body as Static<Body>,
        rawBody,
        span,
      });
      return reply.code(202).header('content-type', JSON_TYPE).send(text);
    },
  });
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
