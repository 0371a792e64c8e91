import type { LedgerDifference, LedgerMeasure, LedgerRecount } from '@tollgate/contract';
import { type RawBuilder, sql } from 'kysely';
import { countOrNone, present } from '../../kernel/present.js';
import { onSnapshot, type Postgres } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from './amount.js';

/** The sums of every wallet's lines, next to the amounts in the wallet's row. */
const WALLETS = sql`
  select w.tenant_id, w.project_id, w.account_id, w.currency, null::text as transaction_id, c.measure, c.expected, c.found
  from wallets w
  left join (
    select t.project_id, t.account_id, t.currency,
      coalesce(sum(e.amount) filter (where e.ledger_account = 'wallet'), 0) as balance,
      coalesce(-sum(e.amount) filter (where e.ledger_account = 'receivable'), 0) as owed
    from ledger_transactions t
    join ledger_entries e on e.project_id = t.project_id and e.transaction_id = t.id
    group by 1, 2, 3
  ) l on l.project_id = w.project_id and l.account_id = w.account_id and l.currency = w.currency
  left join (
    select project_id, account_id, currency, sum(remaining) as remaining from credit_grants group by 1, 2, 3
  ) g on g.project_id = w.project_id and g.account_id = w.account_id and g.currency = w.currency
  cross join lateral (values
    ('balance', coalesce(l.balance, 0), w.balance),
    ('owed', coalesce(l.owed, 0), w.owed),
    ('credits_left', coalesce(g.remaining, 0) - w.unapplied_debit, w.balance - w.owed)
  ) as c (measure, expected, found)`;

/** Credits with less than nothing or more than they held left, and those whose rest no wallet will take back. */
const CREDITS = sql`
  select g.tenant_id, g.project_id, g.account_id, g.currency, null::text as transaction_id, c.measure,
    0::numeric as expected, count(*)::numeric as found
  from credit_grants g
  join wallets w on w.project_id = g.project_id and w.account_id = g.account_id and w.currency = g.currency
  cross join lateral (values
    ('credits_out_of_bounds', g.remaining < 0 or g.remaining > g.amount or (g.remaining > 0 and g.expired_at is not null)),
    ('credits_that_never_expire', g.remaining > 0 and (w.next_expiry_at <= g.expires_at) is not true
      and g.expires_at is not null)
  ) as c (measure, is_wrong)
  where c.is_wrong
  group by 1, 2, 3, 4, 6`;

/** The amounts that transactions have added as credits or by adjustments, next to the credits that they made. */
const CREDIT_AMOUNTS = sql`
  select tenant_id, project_id, coalesce(g.account_id, l.account_id) as account_id,
    coalesce(g.currency, l.currency) as currency, transaction_id, 'credit_amount' as measure,
    coalesce(l.added, 0) as expected, coalesce(g.amount, 0) as found
  from (
    select t.tenant_id, t.project_id, t.account_id, t.currency, t.id as transaction_id, -sum(e.amount) as added
    from ledger_entries e
    join ledger_transactions t on t.project_id = e.project_id and t.id = e.transaction_id
    where e.ledger_account in ('credits', 'adjustments')
    group by 1, 2, 3, 4, 5 having sum(e.amount) < 0
  ) l
  full join credit_grants g using (tenant_id, project_id, transaction_id)`;

/**
 * The expiry and the priority of each credit, next to those in the audit entry of its creation; 0 stands for no expiry,
 * and for the priority of adjustments.
 */
const CREDIT_TERMS = sql`
  select g.tenant_id, g.project_id, g.account_id, g.currency, g.transaction_id, c.measure, c.expected, c.found
  from audit_log a
  join credit_grants g on g.tenant_id = a.tenant_id and g.project_id = a.project_id and g.id = a.change->>'credit_id'
  cross join lateral (values
    ('credit_expires_at', coalesce((a.change->>'expires_at')::numeric, 0), coalesce(g.expires_at, 0)::numeric),
    ('credit_priority', coalesce((a.change->>'priority')::numeric, 0), g.priority::numeric)
  ) as c (measure, expected, found)
  where a.action in ('credit.create', 'adjustment.create')`;

/**
 * Wallets whose mode nobody has set. A wallet is opened as a postpaid one, and every change of its mode is in the audit
 * log. Their order is not compared: processes write its times.
 */
const MODES = sql`
  select w.tenant_id, w.project_id, w.account_id, w.currency, null::text as transaction_id, 'mode_never_set' as measure,
    0::numeric as expected, 1::numeric as found
  from wallets w
  left join (
    select tenant_id, project_id, resource_id, array_agg(change->>'mode') as modes
    from audit_log where action = 'wallet.update' group by 1, 2, 3
  ) a on a.tenant_id = w.tenant_id and a.project_id = w.project_id and a.resource_id = w.account_id || '/' || w.currency
  where w.mode <> all(coalesce(a.modes, array['postpaid']))`;

/** Transactions must have lines; the sum of one without lines is null. */
const TRANSACTIONS = sql`
  select t.tenant_id, t.project_id, t.account_id, t.currency, t.id as transaction_id, 'transaction_sum' as measure,
    0::numeric as expected, l.sum as found
  from ledger_transactions t
  left join (
    select project_id, transaction_id, sum(amount) as sum from ledger_entries group by 1, 2
  ) l on l.project_id = t.project_id and l.transaction_id = t.id`;

/** Rows without a parent, which no foreign key prevents, counted for each account. */
const ORPHANS = sql`
  select t.tenant_id, t.project_id, t.account_id, t.currency, null::text as transaction_id,
    'transactions_without_wallet' as measure, 0::numeric as expected, count(*)::numeric as found
  from ledger_transactions t
  where not exists (select 1 from wallets w
    where w.project_id = t.project_id and w.account_id = t.account_id and w.currency = t.currency)
  group by 1, 2, 3, 4
  union all
  select e.tenant_id, e.project_id, null, null, e.transaction_id, 'lines_without_transaction', 0, count(*)
  from ledger_entries e
  where not exists (select 1 from ledger_transactions t where t.project_id = e.project_id and t.id = e.transaction_id)
  group by 1, 2, 5`;

/**
 * Recounts the ledger on one snapshot of the database: every transaction adds up to zero; every wallet's balance and
 * debt are what its lines add up to; its worth is what is left of its credits less the unapplied debits; no credit has
 * more left than it held, and each will expire; a credit is what its transaction has added, with the terms of its audit
 * entry; the mode of a wallet was set. Exact under any traffic; changes nothing.
 *
 * @param differencesMax upper bound of the differences that are listed; all are counted
 */
export async function recountLedger(
  postgres: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<LedgerRecount> {
  return onSnapshot(postgres, async (tx) => {
    const { rows: countRows } = await sql<{ wallets: number; transactions: number }>`
      select (select count(*) from wallets) as wallets, (select count(*) from ledger_transactions) as transactions
    `.execute(tx);
    const found = [];
    for (const compared of [TRANSACTIONS, ORPHANS, WALLETS, CREDITS, CREDIT_AMOUNTS, CREDIT_TERMS, MODES]) {
      found.push(await differencesIn(compared, differencesMax));
    }
    return {
      ...present(countRows[0], 'the number of wallets and transactions'),
      difference_count: found.reduce((sum, { count }) => sum + count, 0),
      differences: found.flatMap(({ listed }) => listed).slice(0, differencesMax),
    };

    async function differencesIn(compared: RawBuilder<unknown>, max: number) {
      const { rows } = await sql<DifferenceRow>`
        select compared.*, count(*) over () as count from (${compared}) compared
        where expected is distinct from found
        order by project_id, account_id, currency, transaction_id, measure limit ${max}
      `.execute(tx);
      // Each row carries the count of all rows; no row means no difference.
      const [first] = rows;
      return { count: countOrNone(first?.count), listed: rows.map(toDifference) };
    }
  });
}

interface DifferenceRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly account_id: string | null;
  readonly currency: string | null;
  readonly transaction_id: string | null;
  readonly measure: LedgerMeasure;
  readonly expected: string;
  readonly found: string | null;
  readonly count: number;
}

function toDifference({ count: _count, ...row }: DifferenceRow): LedgerDifference {
  return {
    ...row,
    expected: amountText(amountFromText(row.expected)),
    found: row.found === null ? 'nothing' : amountText(amountFromText(row.found)),
  };
}
