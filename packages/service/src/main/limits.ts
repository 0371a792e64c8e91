import { systemClock } from '../kernel/clock.js';
import type { ProjectRef } from '../kernel/scope.js';
import type { KnownNames } from '../modules/analysis/index.js';
import type { TenantAdmission } from '../modules/catalog/index.js';
import {
  createApiCatalog,
  createLimitManagement,
  createRealtimeLimits,
  registerLimitManagementRoutes,
  registerRealtimeLimitRoutes,
  USAGE_FRESH_MS,
} from '../modules/limits/index.js';
import { defaultSubjectTypes, isDefaultSubjectType } from '../modules/rules/index.js';
import type { App } from '../platform/http/index.js';
import type { Logger } from '../platform/log/index.js';
import type { Metrics } from '../platform/metrics/index.js';
import { ProjectDb } from '../platform/postgres/index.js';
import type { Stores } from './stores.js';

/**
 * Registers the management of limits, and what requests ask about them. One catalog for both, so that changes on this
 * node are effective here at once.
 */
export function registerLimitRoutes(
  app: App,
  parts: {
    postgres: Stores['postgres'];
    log: Logger;
    metrics: Metrics;
    admission: TenantAdmission;
    names: KnownNames;
  },
): void {
  const deps = { ...parts, clock: systemClock, catalog: createApiCatalog() };
  const otherSubjectTypes = async (project: ProjectRef, type: string) => {
    const db = new ProjectDb(parts.postgres.db, project);
    if (await isDefaultSubjectType(db, type)) return undefined;
    const { names, known } = await parts.names.unknown(project, 'subject_types', [type]);
    return names.length === 0 ? undefined : [...(await defaultSubjectTypes(db)), ...known];
  };
  registerLimitManagementRoutes(app, createLimitManagement({ ...deps, otherSubjectTypes }));
  const memory = { freshMs: USAGE_FRESH_MS, log: parts.log };
  registerRealtimeLimitRoutes(app, createRealtimeLimits({ ...deps, memory }));
}
