import type { CatalogPlan } from '@tollgate/contract';
import { newId } from '../../kernel/id.js';
import { TenantTx, type Tx } from '../../platform/postgres/index.js';
import { effectiveEnd, type PlanGrant, scheduleGrant } from './grant.js';
import { endGrants, findGrantOfSource, insertGrant, lockGrants, openGrants } from './grant-store.js';

export interface GrantInput {
  readonly tenantId: string;
  /** The plan as it was bought. */
  readonly plan: CatalogPlan;
  /** The reason for the grant, such as the provider's id of a payment. */
  readonly source: string;
  /** Unix seconds. */
  readonly atS: number;
  /** Whether the grant ends at its start, so that it is recorded and has no effect. */
  readonly isVoid?: boolean;
}

/**
 * Grants a plan for a calendar month: after the tenant's grants of the same plan, or at once in place of another plan.
 * When the source has a grant already, returns that one and grants nothing.
 *
 * @throws Error when the source was granted to another tenant
 */
export async function grantPlan(
  tx: Tx,
  { tenantId, plan, source, atS, isVoid = false }: GrantInput,
): Promise<PlanGrant> {
  const own = new TenantTx(tx, tenantId);
  await lockGrants(own);
  const before = await findGrantOfSource(tx, source);
  if (before !== undefined) {
    if (before.tenantId !== tenantId) throw new Error(`${source} was granted to another tenant`);
    return before;
  }
  const others = isVoid ? [] : await openGrants(own, atS);
  const { startsAt, endsAt, replaces } = scheduleGrant(others, plan.id, atS);
  await endGrants(own, replaces, atS);
  const id = newId('grt', { nowMs: () => atS * 1_000 });
  const grant: PlanGrant = {
    tenantId,
    id,
    plan,
    source,
    startsAt,
    endsAt,
    endedAt: isVoid ? atS : null,
    createdAt: atS,
  };
  await insertGrant(own, grant);
  return grant;
}

/**
 * Ends the grant that was made for a source, unless it has ended. Later grants of the same plan keep their time, and a
 * plan that it replaced does not come back.
 */
export async function endGrantOfSource(tx: Tx, tenantId: string, source: string, atS: number): Promise<void> {
  const own = new TenantTx(tx, tenantId);
  await lockGrants(own);
  const grant = await findGrantOfSource(tx, source);
  if (grant === undefined || grant.tenantId !== tenantId || effectiveEnd(grant) <= atS) return;
  if (grant.endedAt === null) await endGrants(own, [grant.id], atS);
}
