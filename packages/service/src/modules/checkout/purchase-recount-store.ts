import { PAYMENT_PROVIDERS, type PurchaseDifference, type PurchaseRecount } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Postgres } from '../../platform/postgres/index.js';

/** Paid orders beside the grants of payments. Both know a payment by one source each, so that each has one of the other. */
const COMPARED = sql`
  select tenant_id, o.id as order_id, g.id as grant_id,
    coalesce(o.plan_id || ' ' || o.plan_revision, 'nothing') as expected,
    case
      when g.id is null then 'nothing'
      when (g.plan_id, g.revision) = (o.plan_id, o.plan_revision) and g.plan <> o.plan
        then g.plan_id || ' ' || g.revision || ' on other terms'
      else g.plan_id || ' ' || g.revision
    end as found
  from (
    select tenant_id, provider || ':' || payment_id as source, id, plan_id, plan_revision, plan::jsonb as plan
    from payment_orders where status = 'paid'
  ) o
  full join (
    select tenant_id, source, id, plan_id, revision, plan::jsonb as plan
    from entitlement_grants where split_part(source, ':', 1) = any(${[...PAYMENT_PROVIDERS]})
  ) g using (tenant_id, source)`;

/**
 * Compares, in one statement and so on one snapshot, what was paid with what was granted for it. Exact beside any traffic; changes
 * nothing.
 *
 * @param differencesMax how many differences are listed; all are counted
 */
export async function recountPurchases(
  { db }: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<PurchaseRecount> {
  const { rows } = await sql<RecountRow>`
    with compared as materialized (${COMPARED}),
      differing as (select * from compared where expected <> found)
    select (select count(order_id) from compared) as orders, (select count(*) from differing) as count, d.*
    from (select) one
    left join (
      select * from differing order by tenant_id, order_id, grant_id limit ${differencesMax}
    ) d on true
  `.execute(db);
  const [first] = rows;
  return {
    orders: first?.orders ?? 0,
    difference_count: first?.count ?? 0,
    differences: rows.filter(isDifference).map(({ orders: _orders, count: _count, ...row }) => row),
  };
}

interface Counts {
  readonly orders: number;
  readonly count: number;
}

/** Without differences there is one row, which has none. */
type RecountRow = Counts & (PurchaseDifference | { readonly tenant_id: null });

function isDifference(row: RecountRow): row is Counts & PurchaseDifference {
  return row.tenant_id !== null;
}
