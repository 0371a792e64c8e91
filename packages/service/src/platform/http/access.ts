import type { Permission } from '@tollgate/contract';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { DomainError } from '../../kernel/errors.js';
import { type MaybePromise, whenReady } from '../../kernel/maybe-promise.js';
import { type Authenticator, type Principal, principalPermits } from '../../kernel/principal.js';
import type { ProjectRef, ProjectResolver } from '../../kernel/scope.js';
import { isConsoleRequest } from './console-requests.js';
import type { KeyRates } from './key-rates.js';
import { boundToProject, lackingPermissions, permissionDenied } from './permission-denied.js';
import type { Access, App, SessionAuthenticator } from './types.js';

/** The look-ups of tenancy that the access check needs. */
export interface AccessPorts {
  readonly authenticator: Authenticator;
  readonly projects: ProjectResolver;
  /** Finds the session of a person who is signed in to the console; without it nobody can sign in. */
  readonly sessions?: SessionAuthenticator;
  /** Bounds the requests of each key; without it they are not bounded. */
  readonly keyRates?: KeyRates | undefined;
}

type Refusal = DomainError | undefined;

const BEARER_PREFIX = 'bearer ';
/** A longer credential cannot be valid; it is refused unread. */
const AUTHORIZATION_CHARS_MAX = 256;

const unauthenticated = () => new DomainError('unauthenticated');
/** A foreign project and an absent one get the same error, so that nobody learns which ids exist. */
const notFound = () => new DomainError('not_found');

/** Returns the `Access` of a route; throws when it declares none, because a route must never be open by omission. */
export function accessOf(route: RouteOptions): Access {
  const access = route.config?.access;
  if (access === undefined) {
    throw new Error(`Route ${String(route.method)} ${route.url} does not declare config.access`);
  }
  if (access.kind === 'project' && !route.url.includes('/:project_id')) {
    throw new Error(`Route ${route.url} has access kind 'project' but no :project_id in its path`);
  }
  if (access.kind === 'tenant' && !route.url.includes('/:tenant_id')) {
    throw new Error(`Route ${route.url} has access kind 'tenant' but no :tenant_id in its path`);
  }
  return access;
}

/** Adds the request's getters `principal` and `project`: reading one that was never set is a bug of the route. */
export function decorateAccess(app: App): void {
  app.decorateRequest('boundPrincipal', undefined);
  app.decorateRequest('boundProject', undefined);
  app.decorateRequest('principal', {
    getter(this: FastifyRequest): Principal {
      if (this.boundPrincipal === undefined) throw new Error('This route has no authenticated principal');
      return this.boundPrincipal;
    },
  });
  app.decorateRequest('project', {
    getter(this: FastifyRequest): ProjectRef {
      if (this.boundProject === undefined) throw new Error('This route has no project in its path');
      return this.boundProject;
    },
  });
}

/**
 * Returns the check that guards one route; it calls back with the refusal, if there is one. The order is the
 * contract's: 401, then 403 for the permission (before anything is looked up), then 404 for resources that are absent
 * or belong to somebody else, then 429 for keys that send too many requests. Returns synchronously when the key and the
 * project are cached.
 */
export function accessHook(access: Access, ports: AccessPorts) {
  return (request: FastifyRequest, done: (refusal?: Error) => void): void => {
    let outcome: Refusal | Promise<Refusal>;
    try {
      outcome = check(access, ports, request);
    } catch (error) {
      done(error as Error);
      return;
    }
    const decide = (refusal: Refusal) => done(refusal ?? ports.keyRates?.refusalOf(request.boundPrincipal));
    if (outcome instanceof Promise) outcome.then(decide, done);
    else decide(outcome);
  };
}

/** Returns whether the sender of a request would still be admitted. */
export function recheck(ports: AccessPorts) {
  return async (request: FastifyRequest): Promise<boolean> => {
    const access = request.routeOptions.config.access;
    return (await check(access, ports, request)) === undefined;
  };
}

/**
 * Returns the project if a caller may use it. Otherwise returns undefined or rejects: the access hook then repeats the
 * check and sends the refusal. Returns a promise only if something must be looked up.
 */
export function projectFor(
  ports: AccessPorts,
  needed: Permission | readonly Permission[],
  authorization: string | undefined,
  projectId: string,
): MaybePromise<ProjectRef | undefined> {
  const token = bearerToken(authorization);
  if (token === undefined) return undefined;
  return whenReady(ports.authenticator.authenticate(token), (principal) => {
    if (principal === undefined || !principalPermits(principal, needed)) return undefined;
    return whenReady(visibleProject(ports, principal, projectId), (project) => {
      const isRefused = project !== undefined && ports.keyRates?.refusalOf(principal) !== undefined;
      return isRefused ? undefined : project;
    });
  });
}

function check(access: Access, ports: AccessPorts, request: FastifyRequest): Refusal | Promise<Refusal> {
  if (access.kind === 'public') return hasUnusableParameter(request) ? notFound() : undefined;
  return whenReady(callerOf(ports, request), (principal) => authorize(access, ports, request, principal));
}

/** Finds the caller by the key of the request or, for the console, by the session. */
function callerOf(
  { authenticator, sessions }: AccessPorts,
  { raw, headers }: FastifyRequest,
): ReturnType<Authenticator['authenticate']> {
  if (headers.authorization === undefined && isConsoleRequest(raw)) return sessions?.authenticate(raw);
  const token = bearerToken(headers.authorization);
  return token === undefined ? undefined : authenticator.authenticate(token);
}

function authorize(
  access: Exclude<Access, { kind: 'public' }>,
  ports: AccessPorts,
  request: FastifyRequest,
  principal: Principal | undefined,
): Refusal | Promise<Refusal> {
  if (principal === undefined) return unauthenticated();
  request.boundPrincipal = principal;
  if (access.kind === 'service' && principal.kind !== 'service') {
    return permissionDenied('Only the service key may do this.');
  }
  if ('permission' in access && !principalPermits(principal, access.permission)) {
    return lackingPermissions(principal, access.permission);
  }
  // An administrator administers the whole tenant; a key that is bound to a project never does.
  if (access.kind === 'tenant' && principal.kind === 'key' && principal.projectId !== undefined) {
    return boundToProject();
  }
  if (hasUnusableParameter(request)) return notFound();
  const { project_id: projectId, tenant_id: tenantId } = request.params as Partial<Record<string, string>>;
  if (access.kind === 'tenant') {
    if (principal.kind === 'service' || principal.tenantId === tenantId) return undefined;
    return access.elsewhere === 'denied'
      ? permissionDenied('This API key cannot administer the tenant.')
      : notFound();
  }
  if (access.kind !== 'project') return undefined;
  return whenReady(visibleProject(ports, principal, projectId ?? ''), (project) =>
    bindProject(request, project),
  );
}

/**
 * Returns the project if the principal can see it: one of its own tenant, and its own if it is bound to one. A foreign
 * project takes the same steps as an absent one, so that the response time does not show the difference.
 */
function visibleProject(
  { projects }: AccessPorts,
  principal: Principal,
  projectId: string,
): MaybePromise<ProjectRef | undefined> {
  if (principal.kind === 'service') return projects.resolveProject(projectId);
  if (principal.projectId !== undefined && principal.projectId !== projectId) return undefined;
  return projects.resolveProject(projectId, principal.tenantId);
}

function bindProject(request: FastifyRequest, project: ProjectRef | undefined): Refusal {
  if (project === undefined) return notFound();
  request.boundProject = project;
  return undefined;
}

/** Returns the bearer token of a request's `Authorization` field. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length > AUTHORIZATION_CHARS_MAX) return undefined;
  if (header.slice(0, BEARER_PREFIX.length).toLowerCase() !== BEARER_PREFIX) return undefined;
  return header.slice(BEARER_PREFIX.length).trim();
}

/** No id contains NUL, and PostgreSQL refuses text with it: such a path names nothing. */
function hasUnusableParameter(request: FastifyRequest): boolean {
  const params = request.params as Record<string, string>;
  for (const name in params) if (params[name]?.includes('\0')) return true;
  return false;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the access check; read `principal` instead. */
    boundPrincipal: Principal | undefined;
    /** Set by the access check; read `project` instead. */
    boundProject: ProjectRef | undefined;
  }
}
