import type { LedgerAccount, LedgerKind } from '@tollgate/contract';
import { sql } from 'kysely';
import { columnsOf, type ProjectDb, type Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { assertBalanced, type LedgerLine, type LedgerTransaction } from './wallet.js';

/** Inserts transactions. The only way into the ledger: nothing is written unless every transaction adds up to zero. */
export async function insertTransactions(tx: Tx, transactions: readonly LedgerTransaction[]): Promise<void> {
  if (transactions.length === 0) return;
  for (const transaction of transactions) assertBalanced(transaction);
  const { words, amounts, integers } = columnsOf(transactions);
  await sql`
    with posted as (
      select * from unnest(${words((t) => t.tenantId)}::text[], ${words((t) => t.projectId)}::text[],
        ${words((t) => t.id)}::text[], ${words((t) => t.accountId)}::text[], ${words((t) => t.currency)}::text[],
        ${words((t) => t.kind)}::text[], ${transactions.map(({ description }) => description)}::text[],
        ${integers((t) => t.createdAtMs)}::bigint[], ${amounts((t) => lineOf(t, 'wallet'))}::numeric[],
        ${amounts((t) => lineOf(t, 'receivable'))}::numeric[], ${words((t) => counterOf(t)?.ledgerAccount ?? 'none')}::text[],
        ${amounts((t) => counterOf(t)?.amount ?? null)}::numeric[],
        ${transactions.map(({ correctionId }) => correctionId ?? null)}::text[]
      ) as t (tenant_id, project_id, id, account_id, currency, kind, description, created_at_ms, wallet, receivable,
        counter, countered, correction_id)
    ), transactions as (
      insert into ledger_transactions
        (tenant_id, project_id, id, account_id, currency, kind, description, created_at_ms, correction_id)
      select tenant_id, project_id, id, account_id, currency, kind, description, created_at_ms, correction_id
      from posted
    )
    insert into ledger_entries (tenant_id, project_id, transaction_id, ledger_account, amount)
    select tenant_id, project_id, id, line.ledger_account, line.amount from posted
    cross join lateral (values ('wallet', wallet), ('receivable', receivable), (counter, countered))
      as line (ledger_account, amount)
    where line.amount is not null
  `.execute(tx);
}

function lineOf({ entries }: LedgerTransaction, account: LedgerAccount): Amount | null {
  return entries.find(({ ledgerAccount }) => ledgerAccount === account)?.amount ?? null;
}

/** Returns the counter account. Besides the wallet and its receivable, a transaction has at most one other account. */
function counterOf({ entries }: LedgerTransaction): LedgerLine | undefined {
  return entries.find(({ ledgerAccount }) => ledgerAccount !== 'wallet' && ledgerAccount !== 'receivable');
}

export interface LedgerFilter {
  readonly currency?: string | undefined;
  readonly kind?: LedgerKind | undefined;
  readonly ledgerAccount?: LedgerAccount | undefined;
}

/** A position in the list: the last line that was shown. */
export interface LedgerPosition {
  readonly transactionId: string;
  readonly ledgerAccount: LedgerAccount;
}

/** One line, with the fields of its transaction. */
export interface StoredLine {
  readonly transaction_id: string;
  readonly kind: LedgerKind;
  readonly ledger_account: LedgerAccount;
  readonly currency: string;
  readonly amount: string;
  readonly description: string | null;
  readonly correction_id: string | null;
  readonly created_at_ms: number;
}

/** Returns the lines of an account, newest first; those of a transaction stay together. */
export async function listLines(
  db: ProjectDb,
  accountId: string,
  filter: LedgerFilter,
  after: LedgerPosition | undefined,
  limit: number,
): Promise<StoredLine[]> {
  const conditions = [sql`t.account_id = ${accountId}`];
  if (filter.currency !== undefined) conditions.push(sql`t.currency = ${filter.currency}`);
  if (filter.kind !== undefined) conditions.push(sql`t.kind = ${filter.kind}`);
  // Repeats the condition of the index that leaves usage out, which is nearly all of the table.
  if (filter.kind !== undefined && filter.kind !== 'usage') conditions.push(sql`t.kind <> 'usage'`);
  if (filter.ledgerAccount !== undefined) conditions.push(sql`e.ledger_account = ${filter.ledgerAccount}`);
  if (after !== undefined) {
    conditions.push(sql`t.id <= ${after.transactionId}
      and (t.id < ${after.transactionId} or e.ledger_account < ${after.ledgerAccount})`);
  }
  return db.rows<StoredLine>`
    select t.id as transaction_id, t.kind, e.ledger_account, t.currency, e.amount, t.description, t.correction_id,
      t.created_at_ms
    from ledger_transactions t
    join ledger_entries e on e.project_id = t.project_id and e.transaction_id = t.id
    where ${db.isOwn('t')} and ${sql.join(conditions, sql` and `)}
    order by t.id desc, e.ledger_account desc limit ${limit}`;
}
