import type { WalletMode } from '@tollgate/contract';
import { sql } from 'kysely';
import { present } from '../../kernel/present.js';
import { noting } from '../../platform/changes/index.js';
import { columnsOf, type Db, isNotMoving, type ProjectDb, type Tx } from '../../platform/postgres/index.js';
import { amountFromText } from './amount.js';
import { type WalletKey, type WalletState, walletKeyText, walletNumber } from './wallet.js';

/** A wallet as it is stored. */
export interface WalletRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly account_id: string;
  readonly currency: string;
  readonly mode: WalletMode;
  readonly balance: string;
  readonly owed: string;
  readonly reserved: string;
  readonly unapplied_debit: string;
  readonly next_expiry_at: number | null;
  readonly created_at: number;
}

/** The columns of a `WalletRow`, of the table `w`. */
export const WALLET_COLUMNS = `w.tenant_id, w.project_id, w.account_id, w.currency, w.mode, w.balance, w.owed,
  w.reserved, w.unapplied_debit, w.next_expiry_at, w.created_at`;
const COLUMNS = sql.raw(WALLET_COLUMNS);

/** The keys of wallets, as the table `k`. */
const keys = (wallets: readonly WalletKey[]) => {
  const { words } = columnsOf(wallets);
  return sql`${words((key) => key.projectId)}::text[], ${words((key) => key.accountId)}::text[],
    ${words((key) => key.currency)}::text[]`;
};
const KEY_COLUMNS = sql`project_id, account_id, currency`;
const IS_KEY = sql`w.project_id = k.project_id and w.account_id = k.account_id and w.currency = k.currency`;

/**
 * Opens the wallets that do not exist, and locks all of them until the transaction ends. All transactions use the same
 * order, so they cannot deadlock. Opening waits for others that open the same wallet, before anything is locked.
 *
 * @returns wallets by `walletKeyText`
 */
export async function openAndLock(
  tx: Tx,
  wallets: readonly WalletKey[],
  createdAt: number,
): Promise<Map<string, WalletState>> {
  await sql`
    insert into wallets (project_id, account_id, currency, tenant_id, created_at)
    select k.*, ${createdAt}::bigint
    from unnest(${keys(wallets)}, ${columnsOf(wallets).words((key) => key.tenantId)}::text[])
      as k (${KEY_COLUMNS}, tenant_id)
    where not exists (select 1 from wallets w where ${IS_KEY})
    order by k.account_id, k.currency
    on conflict do nothing
  `.execute(tx);
  return lockWallets(tx, wallets);
}

/** Locks those of the wallets that exist, in the order that all transactions use. */
export async function lockWallets(tx: Tx, wallets: readonly WalletKey[]): Promise<Map<string, WalletState>> {
  const { rows } = await sql<WalletRow>`
    select ${COLUMNS} from unnest(${keys(wallets)}) as k (${KEY_COLUMNS}) join wallets w on ${IS_KEY}
    order by w.account_id, w.currency
    for update of w
  `.execute(tx);
  return new Map(rows.map((row) => [walletKeyText({ accountId: row.account_id, ...row }), toWallet(row)]));
}

/** Locks up to `max` wallets in which a credit expires by `atS`, except those that others have locked. */
export async function claimDueWallets(tx: Tx, atS: number, max: number): Promise<WalletState[]> {
  const { rows } = await sql<WalletRow>`
    select ${COLUMNS} from wallets w where w.next_expiry_at <= ${atS} and ${isNotMoving('w.tenant_id')}
    order by w.next_expiry_at limit ${max}
    for update skip locked
  `.execute(tx);
  return rows.map(toWallet);
}

/** A subquery: when the next credit expires, in milliseconds since the Unix epoch. */
export const nextCreditExpiryMs = sql<number | null>`
  select min(next_expiry_at) * 1000 from wallets where ${isNotMoving('tenant_id')}`;

/** Returns how many wallets have a due expiry, and for how long the oldest has been due. */
export async function measureDueWallets(
  db: Db,
  atS: number,
): Promise<{ readonly count: number; readonly oldestAtS: number | null }> {
  const { rows } = await sql<{ count: number; oldest: number | null }>`
    select count(*) as count, min(next_expiry_at) as oldest from wallets
    where next_expiry_at <= ${atS} and ${isNotMoving('tenant_id')}
  `.execute(db);
  const { count, oldest } = present(rows[0], 'the number of wallets');
  return { count, oldestAtS: oldest };
}

/** Writes locked wallets back. */
export async function updateWallets(tx: Tx, wallets: readonly WalletState[]): Promise<void> {
  const { words, amounts, integers } = columnsOf(wallets);
  await sql`
    ${noting(wallets.map(walletNumber))}
    update wallets w set mode = k.mode, balance = k.balance, owed = k.owed, reserved = k.reserved,
      unapplied_debit = k.unapplied_debit, next_expiry_at = k.next_expiry_at
    from unnest(${keys(wallets)}, ${words((wallet) => wallet.mode)}::text[],
      ${amounts((wallet) => wallet.balance)}::numeric[], ${amounts((wallet) => wallet.owed)}::numeric[],
      ${amounts((wallet) => wallet.reserved)}::numeric[], ${amounts((wallet) => wallet.unappliedDebit)}::numeric[],
      ${integers((wallet) => wallet.nextExpiryAt)}::bigint[]
    ) as k (${KEY_COLUMNS}, mode, balance, owed, reserved, unapplied_debit, next_expiry_at)
    where ${IS_KEY}
  `.execute(tx);
}

/** Returns the first wallets of an account after a currency, ordered by currency. */
export async function listWallets(
  db: ProjectDb,
  accountId: string,
  { after, max }: { readonly after: string; readonly max: number },
): Promise<WalletState[]> {
  const rows = await db.rows<WalletRow>`
    select ${COLUMNS} from wallets w
    where ${db.isOwn('w')} and w.account_id = ${accountId} and w.currency > ${after}
    order by w.currency limit ${max}`;
  return rows.map(toWallet);
}

/** Returns the first wallets of each account, ordered by account and currency. */
export async function listFirstWallets(
  db: ProjectDb,
  accountIds: readonly string[],
  perAccountMax: number,
): Promise<WalletState[]> {
  const rows = await db.rows<WalletRow>`
    select ${COLUMNS} from unnest(${[...accountIds]}::text[]) as a (id)
    cross join lateral (
      select * from wallets w where ${db.isOwn('w')} and w.account_id = a.id order by w.currency limit ${perAccountMax}
    ) w
    order by w.account_id, w.currency`;
  return rows.map(toWallet);
}

/**
 * The text of a query: what could be reserved of prepaid wallets, their balance less the reserved amount, by the
 * position of their key from 1 on. Wallets that are postpaid or not open have no bound, and no row.
 *
 * @param first the number of the first of its four parameters, which `walletKeyLists` returns
 */
export function availableText(first: number): string {
  const [tenants, projects, accounts, currencies] = [0, 1, 2, 3].map((at) => `$${first + at}::text[]`);
  return `
  select k.position, w.balance - w.reserved as available
  from unnest(${tenants}, ${projects}, ${accounts}, ${currencies}) with ordinality
    as k (tenant_id, project_id, account_id, currency, position)
  join wallets w on w.project_id = k.project_id and w.account_id = k.account_id and w.currency = k.currency
    and w.tenant_id = k.tenant_id
  where w.mode = 'prepaid'`;
}

/** Returns the parameters of `availableText`. */
export function walletKeyLists(wallets: readonly WalletKey[]): string[][] {
  return [
    wallets.map((key) => key.tenantId),
    wallets.map((key) => key.projectId),
    wallets.map((key) => key.accountId),
    wallets.map((key) => key.currency),
  ];
}

/**
 * A condition: whether one of some wallets of a project is prepaid. One look-up in the index for each.
 *
 * @param parameters the tenant's and the project's id, and lists of the ids of accounts and of currencies
 */
export function isAnyPrepaidText([tenantId, projectId, accountIds, currencies]: readonly [
  string,
  string,
  string,
  string,
]): string {
  return `exists (
    select from unnest(${accountIds}::text[], ${currencies}::text[]) as v (account_id, currency)
    cross join lateral (
      select from wallets w where w.tenant_id = ${tenantId} and w.project_id = ${projectId}
        and w.account_id = v.account_id and w.currency = v.currency and w.mode = 'prepaid' limit 1
    ) as w
  )`;
}

export function toWallet(row: WalletRow): WalletState {
  return {
    tenantId: row.tenant_id,
    projectId: row.project_id,
    accountId: row.account_id,
    currency: row.currency,
    mode: row.mode,
    balance: amountFromText(row.balance),
    owed: amountFromText(row.owed),
    reserved: amountFromText(row.reserved),
    unappliedDebit: amountFromText(row.unapplied_debit),
    nextExpiryAt: row.next_expiry_at,
    createdAt: row.created_at,
  };
}
