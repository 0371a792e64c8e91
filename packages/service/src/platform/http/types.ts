import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type Permission, permits } from '@tollgate/contract';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';

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
 * - `any-key`: any valid key, the service key included.
 * - `project`: the path has `:project_id`; the key can see that project and holds the permission, or all of several. Sets
 *   `request.project`.
 * - `tenant`: the path has `:tenant_id`; the service key, or an admin key of that tenant. Of another tenant, absent or not, an
 *   admin key hears 404, or 403 where `elsewhere` says so.
 * - `service`: the service key only.
 */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'any-key' }
  | { readonly kind: 'project'; readonly permission: Permission | readonly Permission[] }
  | { readonly kind: 'tenant'; readonly permission: 'tenant:admin'; readonly elsewhere?: 'denied' }
  | { readonly kind: 'service' };

/** The service's own key: everything in every tenant. */
export interface ServicePrincipal {
  readonly kind: 'service';
}

/** A tenant's key. */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: string;
  readonly tenantId: string;
  /** Set when the key is bound to one project. */
  readonly projectId: string | undefined;
  /** As granted; ask `principalPermits` for what they imply. */
  readonly permissions: readonly Permission[];
}

export type Principal = ServicePrincipal | KeyPrincipal;

/** A project that exists; projects never change. */
export interface ProjectRef {
  readonly tenantId: string;
  readonly projectId: string;
  /** Short surrogate of the project, used as an index prefix. */
  readonly projectNo: number;
  readonly kind: 'development' | 'release';
  /** Where its usage is kept in ClickHouse: beside that of others, or in tables of its own. */
  readonly storage: 'shared' | 'dedicated';
}

export type MaybePromise<T> = T | Promise<T>;

/** `next` at once, unless `found` is still awaited. */
export function following<T, R>(
  found: MaybePromise<T>,
  next: (found: T) => MaybePromise<R>,
): MaybePromise<R> {
  return found instanceof Promise ? found.then(next) : next(found);
}

/** Turns credentials into a principal. Answers at once when it can: the hot path takes no promise then. */
export interface Authenticator {
  /** The principal of a bearer token; undefined when it is malformed, unknown, revoked or expired. */
  authenticate(token: string): MaybePromise<Principal | undefined>;
}

/** Tells who is signed in to the console. */
export interface SessionAuthenticator {
  /** The principal of the request's cookie; undefined without a session, and for a change that lacks the session's token. */
  authenticate(request: Pick<IncomingMessage, 'method' | 'headers'>): MaybePromise<Principal | undefined>;
}

/** Finds projects by id. */
export interface ProjectResolver {
  /** The project of that tenant, or of any tenant where none is named; undefined when there is none. */
  resolveProject(projectId: string, tenantId?: string): MaybePromise<ProjectRef | undefined>;
}

/** Whether the principal may do all that is `needed` within the tenants and projects it can see. */
export function principalPermits(principal: Principal, needed: Permission | readonly Permission[]): boolean {
  if (principal.kind === 'service') return true;
  if (typeof needed === 'string') return permits(principal.permissions, needed);
  return needed.every((permission) => permits(principal.permissions, permission));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access: Access;
    /**
     * The body's strings are the client's own data and may hold any JSON text, NUL and lone surrogates included.
     * Default: such strings are a 400.
     */
    arbitraryText?: boolean;
    /** The answer lasts as long as the client wants: its duration is not measured, and not told as slow. */
    isLong?: boolean;
  }

  interface FastifyRequest {
    /** Who calls; only absent on public routes, where reading it throws. */
    principal: Principal;
    /** The project of the path; on routes with access kind `project`, elsewhere reading it throws. */
    project: ProjectRef;
    /** The body's bytes as they were received; undefined without a body. */
    rawBody: Buffer | undefined;
  }
}
