import type { ReservationDifference, ReservationRecount } from '@tollgate/contract';
import { sql } from 'kysely';
import { type Postgres, recount } from '../../../platform/postgres/index.js';
import { amountFromText, amountText } from '../../ledger/index.js';

/** The holds of a lease that was asked for with `holds`. */
const HOLDS = sql`json_to_recordset(l.holds) as o (unit text, held numeric, holds_wallet boolean, rules json)`;

/** The reserved amount of each rule and subject, next to what active leases hold of it. */
const OF_LIMITS = sql`
  select p.tenant_id, p.id as project_id, subject_type, subject_id, rule_no as limit_rule_no, null::text as account_id,
    null::text as currency, coalesce(h.held, 0) as expected, coalesce(r.reserved, 0) as found
  from limit_reserved r
  full join (
    select p.no as project_no, coalesce(n.subject_type, l.subject_type) as subject_type,
      coalesce(n.subject_id, l.subject_id) as subject_id, n.rule_no, sum(n.held) as held
    from budget_leases l
    join projects p on p.tenant_id = l.tenant_id and p.id = l.project_id
    cross join lateral (
      select l.held, * from unnest(l.rule_nos, l.rule_subject_types, l.rule_subject_ids)
      union all select 1, * from unnest(l.slot_rule_nos, l.slot_subject_types, l.slot_subject_ids)
      union all select o.held, r.* from ${HOLDS}, json_to_recordset(o.rules) as r (rule_no int, subject_type text, subject_id text)
    ) as n (held, rule_no, subject_type, subject_id)
    where l.status = 'active' group by 1, 2, 3, 4
  ) h using (project_no, subject_type, subject_id, rule_no)
  join projects p on p.no = project_no`;

/** The same for wallets. */
const OF_WALLETS = sql`
  select tenant_id, project_id, null, null, null, account_id, currency, coalesce(h.held, 0), coalesce(w.reserved, 0)
  from wallets w
  full join (
    select l.tenant_id, l.project_id, l.account_id, n.currency, sum(n.held) as held
    from budget_leases l
    cross join lateral (
      select l.currency, l.held where l.holds_wallet union all select o.unit, o.held from ${HOLDS} where o.holds_wallet
    ) as n (currency, held)
    where l.status = 'active' group by 1, 2, 3, 4
  ) h using (tenant_id, project_id, account_id, currency)`;

/**
 * Recounts the reserved amounts of limits and wallets; each must equal what active leases hold of it.
 *
 * @param differencesMax upper bound of the differences that are listed; all are counted
 */
export async function recountReservations(
  { db }: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<ReservationRecount> {
  const { total, differenceCount, differences } = await recount<ReservationDifference>(db, {
    compared: sql`${OF_LIMITS} union all ${OF_WALLETS}`,
    total: sql`select count(*) from budget_leases where status = 'active'`,
    order: sql`project_id, subject_type, subject_id, limit_rule_no, account_id, currency`,
    differencesMax,
  });
  return { leases: total, difference_count: differenceCount, differences: differences.map(inPlainDigits) };
}

function inPlainDigits(difference: ReservationDifference): ReservationDifference {
  const plain = (text: string) => amountText(amountFromText(text));
  return { ...difference, expected: plain(difference.expected), found: plain(difference.found) };
}
