import type { GrantPlanBody } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import type { Principal } from '../../kernel/principal.js';
import { type Postgres, TenantTx, transaction } from '../../platform/postgres/index.js';
import { audit, type TenancyService } from '../tenancy/index.js';
import type { Entitlements } from './entitlements.js';
import type { PlanGrant } from './grant.js';
import { findGrantOfSource, lockGrants } from './grant-store.js';
import { grantPlan } from './grants.js';
import { newestPlan } from './plan-store.js';

export interface OperatorGrantDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly entitlements: Pick<Entitlements, 'applyGrants'>;
  readonly tenants: Pick<TenancyService, 'getTenant'>;
}

export interface PlanGrantRequest {
  readonly tenantId: string;
  readonly body: GrantPlanBody;
  readonly idempotencyKey: string;
  readonly principal: Principal;
  readonly requestId: string;
}

/**
 * Grants the newest revision of a plan without a payment: for plans that are sold by other means, or given away.
 *
 * @throws DomainError `not_found` for the tenant; `invalid_request`, `idempotency_key_conflict`
 */
export async function grantByOperator(
  deps: OperatorGrantDeps,
  request: PlanGrantRequest,
): Promise<PlanGrant> {
  const { id: tenantId } = await deps.tenants.getTenant(request.tenantId);
  const { plan_id: planId } = request.body;
  const source = `operator:${tenantId}:${request.idempotencyKey}`;
  const grant = await transaction(deps.postgres, async (tx) => {
    await lockGrants(new TenantTx(tx, tenantId));
    const before = await findGrantOfSource(tx, source);
    if (before !== undefined) {
      if (before.plan.id !== planId) throw new DomainError('idempotency_key_conflict');
      return before;
    }
    const plan = await newestPlan(tx, planId);
    if (plan === undefined) throw invalidRequest('plan_id', 'expected a subscription plan of the catalog');
    const made = await grantPlan(tx, { tenantId, plan, source, atS: unixSeconds(deps.clock) });
    await audit(tx, {
      tenantId,
      principal: request.principal,
      action: 'entitlement_grant.create',
      resourceType: 'entitlement_grant',
      resourceId: made.id,
      change: { plan_id: planId, revision: plan.revision, starts_at: made.startsAt, ends_at: made.endsAt },
      requestId: request.requestId,
      atMs: deps.clock.nowMs(),
    });
    return made;
  });
  await deps.entitlements.applyGrants(tenantId);
  return grant;
}
