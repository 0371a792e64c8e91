import { PAYMENT_PROVIDERS, type PurchaseDifference, type PurchaseRecount } from '@tollgate/contract';
import { sql } from 'kysely';
import { type Postgres, recount } from '../../platform/postgres/index.js';

/**
 * Paid orders next to the grants of payments. Each paid order must have exactly one grant, and the other way round, and
 * the amount of its plan.
 */
const COMPARED = sql`
  select tenant_id, o.id as order_id, g.id as grant_id,
    coalesce(o.plan_id || ' ' || o.plan_revision
      || case when o.paid = o.price then '' else ' for ' || o.paid end, 'nothing') as expected,
    case
      when g.id is null then 'nothing'
      when (g.plan_id, g.revision) = (o.plan_id, o.plan_revision) and g.plan <> o.plan
        then g.plan_id || ' ' || g.revision || ' on other terms'
      when o.paid <> o.price then g.plan_id || ' ' || g.revision || ' for ' || o.price
      else g.plan_id || ' ' || g.revision
    end as found
  from (
    select tenant_id, provider || ':' || payment_id as source, id, plan_id, plan_revision, plan::jsonb as plan,
      amount_minor || ' ' || currency as paid, (plan->>'amount_minor') || ' ' || (plan->>'currency') as price
    from payment_orders where status = 'paid'
  ) o
  full join (
    select tenant_id, source, id, plan_id, revision, plan::jsonb as plan
    from entitlement_grants where split_part(source, ':', 1) = any(${[...PAYMENT_PROVIDERS]})
  ) g using (tenant_id, source)`;

/**
 * Compares paid orders with their grants.
 *
 * @param differencesMax upper bound of the differences that are listed; all are counted
 */
export async function recountPurchases(
  { db }: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<PurchaseRecount> {
  const { total, differenceCount, differences } = await recount<PurchaseDifference>(db, {
    compared: COMPARED,
    total: sql`select count(order_id) from compared`,
    order: sql`tenant_id, order_id, grant_id`,
    differencesMax,
  });
  return { orders: total, difference_count: differenceCount, differences };
}
