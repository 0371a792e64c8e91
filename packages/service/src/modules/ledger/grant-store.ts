import { sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import { present } from '../../kernel/present.js';
import { columnsOf, type ProjectDb, type Tx } from '../../platform/postgres/index.js';
import { type Amount, amountFromText, amountText } from './amount.js';
import type { UsedGrant } from './refill.js';
import type { GrantChange, LiveGrant } from './settlement.js';
import { type WalletKey, type WalletState, walletKeyText } from './wallet.js';

/** A credit, or what an adjustment has added. Times are Unix seconds. */
export interface CreditGrant extends WalletKey {
  /** `crg_…`. */
  readonly id: string;
  readonly transactionId: string;
  readonly source: 'credit' | 'adjustment';
  readonly amount: Amount;
  readonly remaining: Amount;
  readonly priority: number;
  readonly expiresAt: number | null;
  readonly expiredAt: number | null;
  readonly description: string | null;
  readonly createdAt: number;
}

/** The order in which credits are used up. */
const BURN_ORDER = sql`g.priority, g.expires_at nulls last, g.created_at, g.id`;
/** The reverse order, in which returned money refills them. */
const REFILL_ORDER = sql`g.priority desc, g.expires_at desc nulls first, g.created_at desc, g.id desc`;
/** Greater than every expiry; the index of used credits has it in place of no expiry. */
const NEVER = sql.raw('9223372036854775807');
/** The sum of what is left of the credits that are used up before this one. */
const LEFT_BEFORE = sql`sum(g.remaining) over (partition by g.project_id, g.account_id, g.currency
  order by ${BURN_ORDER}) - g.remaining`;

export async function insertCredit(tx: Tx, grant: CreditGrant): Promise<void> {
  await tx
    .insertInto('credit_grants')
    .values({
      tenant_id: grant.tenantId,
      project_id: grant.projectId,
      id: grant.id,
      account_id: grant.accountId,
      currency: grant.currency,
      transaction_id: grant.transactionId,
      source: grant.source,
      amount: amountText(grant.amount),
      remaining: amountText(grant.remaining),
      priority: grant.priority,
      expires_at: grant.expiresAt,
      expired_at: grant.expiredAt,
      description: grant.description,
      created_at: grant.createdAt,
    })
    .execute();
}

/**
 * Reads the credits of locked wallets that unapplied debits use up or that expire by `atS`, in the order in which they
 * are used up. The lock of a wallet covers its credits.
 *
 * @returns credits by `walletKeyText`
 */
export async function readReachedGrants(
  tx: Tx,
  wallets: readonly WalletState[],
  atS: number,
): Promise<Map<string, LiveGrant[]>> {
  const { rows } = await sql<{
    account_id: string;
    currency: string;
    id: string;
    remaining: string;
    expires_at: number | null;
  }>`
    select account_id, currency, id, remaining, expires_at from (
      select g.*, k.unapplied_debit, ${LEFT_BEFORE} as left_before
      from unnest(${wallets.map(({ projectId }) => projectId)}::text[],
        ${wallets.map(({ accountId }) => accountId)}::text[], ${wallets.map(({ currency }) => currency)}::text[],
        ${wallets.map(({ unappliedDebit }) => amountText(unappliedDebit))}::numeric[]
      ) as k (project_id, account_id, currency, unapplied_debit)
      join credit_grants g on g.project_id = k.project_id and g.account_id = k.account_id
        and g.currency = k.currency and g.remaining > 0
    ) g
    where left_before < unapplied_debit or expires_at <= ${atS}
    order by account_id, currency, ${BURN_ORDER}
  `.execute(tx);
  const grants = new Map<string, LiveGrant[]>();
  for (const row of rows) {
    const grant = { id: row.id, remaining: amountFromText(row.remaining), expiresAt: row.expires_at };
    addTo(grants, row, grant);
  }
  return grants;
}

/**
 * Reads the credits of locked, settled wallets that returned amounts reach: those of which something was used and that
 * do not expire by `atS`, in the order in which they are refilled.
 *
 * @param returns the amount for the credits of each wallet, above 0
 * @returns credits by `walletKeyText`
 */
export async function readUsedGrants(
  tx: Tx,
  returns: readonly (WalletKey & { readonly amount: Amount })[],
  atS: number,
): Promise<Map<string, UsedGrant[]>> {
  const { words, amounts } = columnsOf(returns);
  const { rows } = await sql<{
    account_id: string;
    currency: string;
    id: string;
    amount: string;
    remaining: string;
    expires_at: number | null;
  }>`
    select account_id, currency, id, amount, remaining, expires_at from (
      select g.*, k.returned, sum(g.amount - g.remaining) over (partition by g.project_id, g.account_id, g.currency
        order by ${REFILL_ORDER}) - (g.amount - g.remaining) as used_before
      from unnest(${words((key) => key.projectId)}::text[], ${words((key) => key.accountId)}::text[],
        ${words((key) => key.currency)}::text[], ${amounts(({ amount }) => amount)}::numeric[]
      ) as k (project_id, account_id, currency, returned)
      join credit_grants g on g.project_id = k.project_id and g.account_id = k.account_id
        and g.currency = k.currency and g.remaining < g.amount and g.expired_at is null
        and coalesce(g.expires_at, ${NEVER}) > ${atS}
    ) g
    where used_before < returned
    order by account_id, currency, ${REFILL_ORDER}
  `.execute(tx);
  const grants = new Map<string, UsedGrant[]>();
  for (const row of rows) {
    const grant = {
      id: row.id,
      amount: amountFromText(row.amount),
      remaining: amountFromText(row.remaining),
      expiresAt: row.expires_at,
    };
    addTo(grants, row, grant);
  }
  return grants;
}

/** Adds a credit to those of its wallet. */
function addTo<Grant>(
  grants: Map<string, Grant[]>,
  { account_id, currency }: { readonly account_id: string; readonly currency: string },
  grant: Grant,
): void {
  const key = walletKeyText({ accountId: account_id, currency });
  const ofWallet = grants.get(key);
  if (ofWallet === undefined) grants.set(key, [grant]);
  else ofWallet.push(grant);
}

/** Writes back what is left of credits; those that expired did so at `atS`. */
export async function updateGrants(tx: Tx, changes: readonly GrantChange[], atS: number): Promise<void> {
  await sql`
    update credit_grants g set remaining = c.remaining,
      expired_at = case when c.has_expired then ${atS}::bigint else g.expired_at end
    from unnest(${changes.map(({ projectId }) => projectId)}::text[], ${changes.map(({ id }) => id)}::text[],
      ${changes.map(({ remaining }) => amountText(remaining))}::numeric[],
      ${changes.map(({ hasExpired }) => hasExpired)}::boolean[]
    ) as c (project_id, id, remaining, has_expired)
    where g.project_id = c.project_id and g.id = c.id
  `.execute(tx);
}

/** Returns when the next credit with something left expires, by `walletKeyText`; wallets without one are left out. */
export async function readNextExpiries(tx: Tx, wallets: readonly WalletKey[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ account_id: string; currency: string; next: number }>`
    select g.account_id, g.currency, min(g.expires_at) as next
    from unnest(${wallets.map(({ projectId }) => projectId)}::text[],
      ${wallets.map(({ accountId }) => accountId)}::text[], ${wallets.map(({ currency }) => currency)}::text[]
    ) as k (project_id, account_id, currency)
    join credit_grants g on g.project_id = k.project_id and g.account_id = k.account_id
      and g.currency = k.currency and g.remaining > 0
    where g.expires_at is not null
    group by g.account_id, g.currency
  `.execute(tx);
  return new Map(
    rows.map(({ account_id, currency, next }) => [walletKeyText({ accountId: account_id, currency }), next]),
  );
}

interface GrantRow {
  readonly id: string;
  readonly transaction_id: string;
  readonly source: 'credit' | 'adjustment';
  readonly amount: string;
  readonly remaining: string;
  readonly priority: number;
  readonly expires_at: number | null;
  readonly expired_at: number | null;
  readonly description: string | null;
  readonly created_at: number;
}

/** Returns the credits of a wallet, newest first, less the debits that are not applied yet. Changes nothing. */
export async function listCredits(
  db: ProjectDb,
  { accountId, currency }: Pick<WalletKey, 'accountId' | 'currency'>,
  { limit, offset }: Page,
): Promise<ListPage<CreditGrant>> {
  const ofWallet = db.part`${db.isOwn('g')} and g.account_id = ${accountId} and g.currency = ${currency}`;
  const rows = await db.rows<GrantRow & { total: number }>`
    select g.id, g.transaction_id, g.source, g.amount, g.priority, g.expires_at, g.expired_at, g.description,
      g.created_at, count(*) over () as total,
      g.remaining - least(g.remaining, greatest(0, w.unapplied_debit - (${LEFT_BEFORE}))) as remaining
    from credit_grants g
    join wallets w on w.project_id = g.project_id and w.account_id = g.account_id and w.currency = g.currency
    where ${ofWallet}
    order by g.id desc limit ${limit} offset ${offset}`;
  const [first] = rows;
  const totalCount = first === undefined ? await countGrants(db, ofWallet) : first.total;
  const key = { ...db.scope, accountId, currency };
  return { items: rows.map((row) => toGrant(key, row)), totalCount };
}

/** Counts the credits for a page past the end, which has no row that could carry the count. */
async function countGrants(db: ProjectDb, condition: ReturnType<typeof sql>): Promise<number> {
  const row = await db.row<{
    total: number;
  }>`select count(*) as total from credit_grants g where ${condition}`;
  return present(row, 'the number of credits').total;
}

function toGrant(key: WalletKey, row: GrantRow): CreditGrant {
  return {
    ...key,
    id: row.id,
    transactionId: row.transaction_id,
    source: row.source,
    amount: amountFromText(row.amount),
    remaining: amountFromText(row.remaining),
    priority: row.priority,
    expiresAt: row.expires_at,
    expiredAt: row.expired_at,
    description: row.description,
    createdAt: row.created_at,
  };
}
