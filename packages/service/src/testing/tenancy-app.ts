import {
  createTenancy,
  registerTenancyRoutes,
  type Tenancy,
  type TenancyOptions,
} from '../modules/tenancy/index.js';
import { type App, createApp } from '../platform/http/index.js';
import { createLog } from '../platform/log/index.js';
import { createMetrics } from '../platform/metrics/index.js';

/** A silent node that checks its answers against their schemas, with the routes of tenancy and no others yet. */
export async function createTenancyApp(options: TenancyOptions): Promise<{ app: App; tenancy: Tenancy }> {
  const tenancy = createTenancy(options);
  const app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    checkResponses: true,
    ...tenancy,
  });
  registerTenancyRoutes(app, tenancy);
  return { app, tenancy };
}
