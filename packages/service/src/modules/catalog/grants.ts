import type { CatalogPlan } from '@tollgate/contract';
import { newId } from '../../kernel/id.js';
import type { Tx } from '../../platform/postgres/index.js';
import { type Grant, placeGrant } from './grant.js';
import { endGrants, findGrantOfSource, insertGrant, lockGrants, openGrants } from './grant-store.js';

export interface GrantInput {
  readonly tenantId: string;
  /** The plan as it was bought. */
  readonly plan: CatalogPlan;
  /** What it is granted for, such as the provider's id of a payment. */
  readonly source: string;
  /** Unix seconds. */
  readonly atS: number;
}

/**
 * Grants a plan for a calendar month: after what the tenant has of the same plan, or at once, in place of another one. What was
 * granted for this source before is answered as it is, and nothing is granted.
 *
 * @throws Error when the source was granted to another tenant
 */
export async function grantPlan(tx: Tx, { tenantId, plan, source, atS }: GrantInput): Promise<Grant> {
  await lockGrants(tx, tenantId);
  const before = await findGrantOfSource(tx, source);
  if (before !== undefined) {
    if (before.tenantId !== tenantId) throw new Error(`${source} was granted to another tenant`);
    return before;
  }
  const { startsAt, endsAt, replaces } = placeGrant(await openGrants(tx, tenantId, atS), plan.id, atS);
  await endGrants(tx, tenantId, replaces, atS);
  const id = newId('grt', { nowMs: () => atS * 1_000 });
  const grant: Grant = { tenantId, id, plan, source, startsAt, endsAt, endedAt: null, createdAt: atS };
  await insertGrant(tx, grant);
  return grant;
}
