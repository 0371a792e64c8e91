import {
  type EntitlementGrant,
  EntitlementGrantList,
  EntitlementGrant as EntitlementGrantSchema,
  ErrorBodySchema,
  GrantHeaders,
  GrantPlanBody,
  PageQuery,
  TenantParams,
} from '@tollgate/contract';
import { type App, pageOf } from '../../platform/http/index.js';
import { TenantDb } from '../../platform/postgres/index.js';
import type { PlanGrant } from './grant.js';
import { listGrants } from './grant-store.js';
import { grantByOperator, type OperatorGrantDeps } from './operator-grants.js';

const tags = ['Plans'];
const url = '/admin/v1/tenants/:tenant_id/grants';

/** Registers the routes of plan grants, made by a payment or by the operator. */
export function registerGrantRoutes(app: App, deps: OperatorGrantDeps): void {
  app.route({
    method: 'POST',
    url,
    config: { access: { kind: 'service' } },
    schema: {
      tags,
      summary: 'Grant a subscription plan',
      description:
        'Grants one calendar month of the newest revision, as a payment does; for plans that are sold outside ' +
        'Tollgate. The month starts after the grants that the tenant already has of this plan; a grant of another ' +
        'plan is replaced at once.',
      operationId: 'grantPlan',
      params: TenantParams,
      headers: GrantHeaders,
      body: GrantPlanBody,
      response: { 201: EntitlementGrantSchema, 409: ErrorBodySchema },
    },
    handler: async ({ params, headers, body, principal, id }, reply) => {
      const grant = await grantByOperator(deps, {
        tenantId: params.tenant_id,
        body,
        idempotencyKey: headers['idempotency-key'],
        principal,
        requestId: id,
      });
      return reply.code(201).send(grantView(grant));
    },
  });

  app.route({
    method: 'GET',
    url,
    config: { access: { kind: 'tenant', permission: 'tenant:admin' } },
    schema: {
      tags,
      summary: 'List the grants of a tenant',
      description: 'Returns past, current and future grants, latest start first.',
      operationId: 'listGrants',
      params: TenantParams,
      querystring: PageQuery,
      response: { 200: EntitlementGrantList },
    },
    handler: async ({ params, query }) => {
      const { id } = await deps.tenants.getTenant(params.tenant_id);
      const page = pageOf(query);
      const { items, totalCount } = await listGrants(new TenantDb(deps.postgres.db, id), page);
      return { grants: items.map(grantView), total_count: totalCount, ...page };
    },
  });
}

function grantView(grant: PlanGrant): EntitlementGrant {
  return {
    id: grant.id,
    tenant_id: grant.tenantId,
    plan_id: grant.plan.id,
    revision: grant.plan.revision,
    starts_at: grant.startsAt,
    ends_at: grant.endsAt,
    ended_at: grant.endedAt,
    source: grant.source,
    created_at: grant.createdAt,
  };
}
