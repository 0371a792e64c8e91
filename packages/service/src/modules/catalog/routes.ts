import {
  AppliedCatalog,
  CatalogFile,
  CatalogPlanList,
  Entitlement,
  ErrorBodySchema,
  type PaymentProviderName,
  TenantParams,
} from '@tollgate/contract';
import { DomainError } from '../../kernel/errors.js';
import type { App } from '../../platform/http/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { applyCatalog } from './apply.js';
import type { Entitlements } from './entitlements.js';
import { registerGrantRoutes } from './grant-routes.js';
import type { OperatorGrantDeps } from './operator-grants.js';
import { entitlementOverview, type OverviewDeps } from './overview.js';
import { newestPlans } from './plan-store.js';

export interface CatalogRouteDeps extends OverviewDeps, OperatorGrantDeps {
  readonly postgres: Postgres;
  readonly entitlements: Pick<Entitlements, 'current' | 'historyRetention' | 'applyGrants'>;
  /** The payment provider; undefined if no plan can be bought. */
  readonly paymentProvider: PaymentProviderName | undefined;
}

const tags = ['Plans'];

/** Registers the routes of the plan catalog and of entitlements. */
export function registerCatalogRoutes(app: App, deps: CatalogRouteDeps): void {
  registerPlanRoutes(app, deps);
  registerEntitlementRoutes(app, deps);
  registerGrantRoutes(app, deps);
}

function registerPlanRoutes(app: App, deps: CatalogRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/plans',
    config: { access: { kind: 'public' } },
    schema: {
      tags,
      summary: 'List the subscription plans',
      description:
        'Returns the newest revision of every subscription plan. A plan that a tenant has bought does not change ' +
        'with the catalog.',
      operationId: 'listPlans',
      response: { 200: CatalogPlanList },
    },
    handler: async () => ({
      plans: await newestPlans(deps.postgres.db),
      payment_provider: deps.paymentProvider ?? null,
    }),
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/catalog/apply',
    config: { access: { kind: 'service' } },
    schema: {
      tags,
      summary: 'Change the subscription plans',
      description:
        'Adds a revision of every plan that is new or differs from its newest revision; other plans stay as they are. ' +
        '`tollgate catalog apply` does the same.',
      operationId: 'applyCatalog',
      body: CatalogFile,
      response: { 200: AppliedCatalog },
    },
    handler: ({ body }) => applyCatalog(deps, body),
  });
}

function registerEntitlementRoutes(app: App, deps: CatalogRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/entitlement',
    config: { access: { kind: 'any-key' } },
    schema: {
      tags,
      summary: 'Read the entitlement of my tenant',
      description:
        'Returns the allowances of the active subscription plan, or the baseline without one, and their usage. The ' +
        'service key belongs to no tenant: it gets 400 here, and can read the entitlement of any tenant by its id.',
      operationId: 'getEntitlement',
      response: { 200: Entitlement, 400: ErrorBodySchema },
    },
    handler: async ({ principal }) => {
      if (principal.kind === 'key') return entitlementOverview(deps, principal.tenantId);
      throw new DomainError('invalid_request', {
        message: 'The service key belongs to no tenant: use /admin/v1/tenants/:tenant_id/entitlement.',
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/admin/v1/tenants/:tenant_id/entitlement',
    config: { access: { kind: 'tenant', permission: 'tenant:admin' } },
    schema: {
      tags,
      summary: 'Read the entitlement of a tenant',
      description:
        'Returns the allowances of the active subscription plan, or the baseline without one, and their usage.',
      operationId: 'getTenantEntitlement',
      params: TenantParams,
      response: { 200: Entitlement },
    },
    handler: async ({ params }) => {
      const { id } = await deps.tenants.getTenant(params.tenant_id);
      return entitlementOverview(deps, id);
    },
  });
}
