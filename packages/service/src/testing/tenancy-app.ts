import type { CellPort } from '../kernel/cells.js';
import {
  createTenancy,
  type ProjectAdmission,
  registerTenancyRoutes,
  type Tenancy,
  type TenancyOptions,
} from '../modules/tenancy/index.js';
import { type App, createApp, type SessionAuthenticator } from '../platform/http/index.js';
import { createLog } from '../platform/log/index.js';
import { createMetrics } from '../platform/metrics/index.js';
import { everythingAdmitted } from './admission.js';

export interface TenancyAppOptions extends Omit<TenancyOptions, 'projectAdmission' | 'provisionStorage'> {
  /** Default: every project is admitted, with shared storage. */
  readonly projectAdmission?: ProjectAdmission;
  /** Default: creates nothing. */
  readonly provisionStorage?: TenancyOptions['provisionStorage'];
  /** The other cells; default: none. */
  readonly cells?: CellPort;
  /** The sessions of the console; default: none. */
  readonly sessionsOf?: (tenancy: Tenancy) => SessionAuthenticator;
}

/**
 * Creates a node without log output that checks its responses against their schemas, with the routes of tenancy only.
 */
export async function createTenancyApp({
  projectAdmission = everythingAdmitted,
  provisionStorage = async () => {},
  sessionsOf,
  cells,
  ...options
}: TenancyAppOptions): Promise<{ app: App; tenancy: Tenancy }> {
  const tenancy = createTenancy({ ...options, projectAdmission, provisionStorage });
  const app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    checkResponses: true,
    ...tenancy,
    cells,
    ...(sessionsOf === undefined ? {} : { sessions: sessionsOf(tenancy) }),
  });
  registerTenancyRoutes(app, tenancy);
  return { app, tenancy };
}
