import type { Clock } from '../../kernel/clock.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { KeyAuthenticator } from './authenticator.js';
import type { ProjectAdmission } from './project-admission.js';
import { CachedProjectResolver } from './project-resolver.js';
import { type ProvisionStorage, TenancyService, type TenantRegister } from './service.js';
import { findKey, findProjectRef } from './store.js';

export { audit } from './audit-store.js';
export { KEY_CACHE_MS_MAX, type KeyAuthenticator, keyHash } from './authenticator.js';
export type { ProjectAdmission } from './project-admission.js';
export { lockProject } from './project-lock-store.js';
export { registerTenancyRoutes } from './routes.js';
export type { TenancyService, TenantRegister } from './service.js';
export { loadServiceKey, type ServiceKey } from './service-key.js';
export { countProjects } from './store.js';
export { isServed, markServed, markUnserved } from './unserved-store.js';

export interface TenancyOptions {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly serviceKey: string;
  readonly projectAdmission: ProjectAdmission;
  readonly provisionStorage: ProvisionStorage;
  /** The directory of cells, if this installation is a cell: tenants may then move to other cells. */
  readonly register?: TenantRegister | undefined;
  /** A clock that never goes back; measures the age of cached keys. */
  readonly monotonicMs?: () => number;
}

/** The ports of `createApp` that find who asks, and for which project. */
export interface CallerFinder {
  readonly authenticator: KeyAuthenticator;
  readonly projects: CachedProjectResolver;
}

export interface Tenancy extends CallerFinder {
  readonly service: TenancyService;
}

export interface CallerFinderOptions
  extends Pick<TenancyOptions, 'postgres' | 'clock' | 'serviceKey' | 'monotonicMs'> {
  /** Whether this installation is one of several cells. */
  readonly mayMove: boolean;
}

export function createCallerFinder({
  postgres,
  clock,
  serviceKey,
  mayMove,
  monotonicMs,
}: CallerFinderOptions): CallerFinder {
  const authenticator = new KeyAuthenticator({
    findKey: (sha256) => findKey(postgres, sha256),
    serviceKey,
    clock,
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
  });
  const projects = new CachedProjectResolver({
    findProject: (projectId, tenantId) => findProjectRef(postgres, projectId, tenantId),
    mayMove,
  });
  return { authenticator, projects };
}

export function createTenancy(options: TenancyOptions): Tenancy {
  const { postgres, clock, projectAdmission, provisionStorage, register } = options;
  const access = createCallerFinder({ ...options, mayMove: register !== undefined });
  const service = new TenancyService({
    postgres,
    clock,
    projectAdmission,
    provisionStorage,
    register,
    onKeyRevoked: () => access.authenticator.forget(),
  });
  return { ...access, service };
}
