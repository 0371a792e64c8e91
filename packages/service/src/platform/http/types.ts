import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Permission } from '@tollgate/contract';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { MaybePromise } from '../../kernel/maybe-promise.js';
import type { Principal } from '../../kernel/principal.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { RequestSpan } from '../tracing/index.js';

/** The HTTP application that modules register their routes on. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/**
 * Who may call a route. Every route declares one; a route without it is refused at start.
 * - `public`: no key.
 * - `any-key`: any valid key, including the service key.
 * - `project`: the path has `:project_id`; the key can see that project and has the permission, or all of several. Sets
 *   `request.project`.
 * - `tenant`: the path has `:tenant_id`; the service key, or an admin key of that tenant. For another tenant, absent or
 *   not, an admin key gets 404, or 403 where `elsewhere` says so.
 * - `service`: the service key only.
 */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'any-key' }
  | { readonly kind: 'project'; readonly permission: Permission | readonly Permission[] }
  | { readonly kind: 'tenant'; readonly permission: 'tenant:admin'; readonly elsewhere?: 'denied' }
  | { readonly kind: 'service' };

/** Finds the principal that is signed in to the console. */
export interface SessionAuthenticator {
  /**
   * Returns the principal of the request's cookie; undefined without a session, and for a change that lacks the
   * session's token.
   */
  authenticate(request: Pick<IncomingMessage, 'method' | 'headers'>): MaybePromise<Principal | undefined>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access: Access;
    /**
     * The body's strings are the client's own data and may contain any JSON text, including NUL and lone surrogates. By
     * default such strings are a 400.
     */
    arbitraryText?: boolean;
    /** The response lasts as long as the client wants: its duration is not measured, and it is not logged as slow. */
    isLong?: boolean;
  }

  interface FastifyRequest {
    /** The caller; reading it throws on public routes, where it is absent. */
    principal: Principal;
    /** The project of the path on routes with access kind `project`; reading it throws on all others. */
    project: ProjectRef;
    /** The body's bytes as they were received; undefined without a body. */
    rawBody: Buffer | undefined;
    /** Undefined if the request is not in a trace. */
    span: RequestSpan | undefined;
  }
}
