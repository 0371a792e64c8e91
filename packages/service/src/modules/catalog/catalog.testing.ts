import { ManualClock } from '../../kernel/clock.js';
import { createMetrics } from '../../platform/metrics/index.js';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import { createTestApi, type TestApi, type TestStores } from '../../testing/api.js';
import {
  countSubjectRoutes,
  countUsageControls,
  createApiCatalog,
  createLimitManagement,
  createRealtimeLimits,
  registerLimitManagementRoutes,
  registerRealtimeLimitRoutes,
} from '../limits/index.js';
import { TenantAdmission } from './admission.js';
import { Entitlements, GRANTS_FRESH_MS } from './entitlements.js';
import type { BaselinePlan, PlanGrant } from './grant.js';
import { grantPlan } from './grants.js';
import { newestPlan } from './plan-store.js';
import { registerCatalogRoutes } from './routes.js';

/** A node that enforces the plans of tenants, with the routes that plans limit. */
export interface CatalogApi extends TestApi {
  readonly entitlements: Entitlements;
  readonly admission: TenantAdmission;
  /** Sets the clock to a time such as `2026-01-31T12:00:00Z`. */
  goTo(time: string): void;
  /** Grants the newest revision of a plan now. */
  grant(tenantId: string, planId: string, source?: string): Promise<PlanGrant>;
}

let sources = 0;

/**
 * Grants the newest revision of a plan in a transaction of its own; by default for a source that no other grant has.
 */
export async function grantNewest(
  postgres: Postgres,
  { tenantId, planId, atS, source }: { tenantId: string; planId: string; atS: number; source?: string },
): Promise<PlanGrant> {
  sources += 1;
  const named = source ?? `test:${sources}`;
  return transaction(postgres, async (tx) => {
    const plan = await newestPlan(tx, planId);
    if (plan === undefined) throw new Error(`there is no plan ${planId}`);
    return grantPlan(tx, { tenantId, plan, source: named, atS });
  });
}

/** Creates a tenant admission whose cache is always up to date. */
export function admissionOver({ postgres, clock }: TestStores, plan: BaselinePlan = 'unlimited') {
  let monotonicMs = 0;
  const entitlements = new Entitlements({
    postgres,
    clock,
    baseline: { plan, eventAgeDaysMax: 3_650, eventAheadDaysMax: 30 },
    monotonicMs: () => {
      monotonicMs += GRANTS_FRESH_MS;
      return monotonicMs;
    },
  });
  return { entitlements, admission: new TenantAdmission(entitlements) };
}

export async function createCatalogApi(plan?: BaselinePlan): Promise<CatalogApi> {
  let parts: ReturnType<typeof admissionOver> | undefined;
  const partsOf = (stores: TestStores) => {
    parts ??= admissionOver(stores, plan);
    return parts;
  };
  const api = await createTestApi(
    (app, { postgres, clock, tenants }) => {
      const { entitlements, admission } = partsOf({ postgres, clock });
      const deps = { postgres, clock, admission, catalog: createApiCatalog() };
      registerLimitManagementRoutes(
        app,
        createLimitManagement({ ...deps, otherSubjectTypes: async () => undefined }),
      );
      registerRealtimeLimitRoutes(app, createRealtimeLimits({ ...deps, metrics: createMetrics() }));
      const counts = { countSubjectRoutes, countUsageControls };
      const paymentProvider = 'sandbox' as const;
      registerCatalogRoutes(app, { postgres, clock, entitlements, tenants, paymentProvider, ...counts });
    },
    (stores) => partsOf(stores).admission,
  );
  if (parts === undefined) throw new Error('the routes were not registered');
  return {
    ...api,
    ...parts,
    goTo: (time) => api.clock.advanceMs(Date.parse(time) - api.clock.nowMs()),
    grant: (tenantId, planId, source) =>
      grantNewest(api.postgres, {
        tenantId,
        planId,
        atS: Math.floor(api.clock.nowMs() / 1_000),
        ...(source === undefined ? {} : { source }),
      }),
  };
}

/** Returns a clock set to a time such as `2026-01-31T12:00:00Z`. */
export function clockAt(time: string): ManualClock {
  return new ManualClock(Date.parse(time));
}
