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

/** The parts of tenancy that other modules use; `authenticator` and `projects` are ports of `createApp`. */
export interface Tenancy {
  readonly authenticator: KeyAuthenticator;
  readonly projects: CachedProjectResolver;
  readonly service: TenancyService;
}

export function createTenancy(options: TenancyOptions): Tenancy {
  const { postgres, clock, serviceKey, projectAdmission, provisionStorage, register, monotonicMs } = options;
  const authenticator = new KeyAuthenticator({
    findKey: (sha256) => findKey(postgres, sha256),
    serviceKey,
    clock,
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
  });
  const projects = new CachedProjectResolver({
    findProject: (projectId, tenantId) => findProjectRef(postgres, projectId, tenantId),
    mayMove: register !== undefined,
  });
  const service = new TenancyService({
    postgres,
    clock,
    projectAdmission,
    provisionStorage,
    register,
    onKeyRevoked: () => authenticator.forget(),
  });
  return { authenticator, projects, service };
}
