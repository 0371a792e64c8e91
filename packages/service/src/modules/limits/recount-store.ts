import type { ReservationDifference, ReservationRecount } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Postgres } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from '../ledger/index.js';

/** What is reserved of each rule and subject, beside what active leases hold of it. */
const OF_LIMITS = sql`
  select p.tenant_id, p.id as project_id, subject_type, subject_id, rule_no as limit_rule_no, null::text as account_id,
    null::text as currency, coalesce(h.held, 0) as expected, coalesce(r.reserved, 0) as found
  from limit_reserved r
  full join (
    select p.no as project_no, l.subject_type, l.subject_id, n.rule_no, sum(l.held) as held
    from budget_leases l
    join projects p on p.tenant_id = l.tenant_id and p.id = l.project_id
    cross join unnest(l.rule_nos) as n (rule_no)
    where l.status = 'active' group by 1, 2, 3, 4
  ) h using (project_no, subject_type, subject_id, rule_no)
  join projects p on p.no = project_no`;

/** The same of wallets. */
const OF_WALLETS = sql`
  select tenant_id, project_id, null, null, null, account_id, currency, coalesce(h.held, 0), coalesce(w.reserved, 0)
  from wallets w
  full join (
    select tenant_id, project_id, account_id, currency, sum(held) as held
    from budget_leases where status = 'active' and holds_wallet group by 1, 2, 3, 4
  ) h using (tenant_id, project_id, account_id, currency)`;

/**
 * Recounts, in one statement and so on one snapshot, what is reserved of limits and wallets: exactly that which active leases hold.
 * Exact beside any traffic; changes nothing.
 *
 * @param differencesMax how many differences are listed; all are counted
 */
export async function recountReservations(
  { db }: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<ReservationRecount> {
  const { rows } = await sql<RecountRow>`
    with compared as (${OF_LIMITS} union all ${OF_WALLETS}),
      differing as (select * from compared where expected <> found)
    select (select count(*) from budget_leases where status = 'active') as leases,
      (select count(*) from differing) as count, d.*
    from (select) one
    left join (
      select * from differing order by project_id, subject_type, subject_id, limit_rule_no, account_id, currency
      limit ${differencesMax}
    ) d on true
  `.execute(db);
  const [first] = rows;
  return {
    leases: first?.leases ?? 0,
    difference_count: first?.count ?? 0,
    differences: rows.filter(isDifference).map(toDifference),
  };
}

interface Counts {
  readonly leases: number;
  readonly count: number;
}

/** Without differences there is one row, which has none. */
type RecountRow = Counts & (ReservationDifference | { readonly project_id: null });

function isDifference(row: RecountRow): row is Counts & ReservationDifference {
  return row.project_id !== null;
}

function toDifference({ leases: _leases, count: _count, ...row }: Counts & ReservationDifference) {
  return {
    ...row,
    expected: amountText(amountFromText(row.expected)),
    found: amountText(amountFromText(row.found)),
  };
}
