import type { Postgres } from '../../platform/postgres/index.js';
import type { WalletKey, WalletState } from './wallet.js';
import { toWallet, WALLET_COLUMNS, type WalletRow, walletKeyLists } from './wallet-store.js';

/**
 * `limit` makes each key one look-up in the index: a plan that is kept must not depend on the size of the table. The
 * subqueries hide the number of keys: for few keys PostgreSQL would otherwise plan the statement each time.
 */
const FIND = {
  name: 'wallets-found',
  text: `select ${WALLET_COLUMNS}
    from unnest((select $1::text[]), (select $2::text[]), (select $3::text[]), (select $4::text[])) as k (tenant_id, project_id, account_id, currency)
    cross join lateral (
      select * from wallets w
      where w.tenant_id = k.tenant_id and w.project_id = k.project_id and w.account_id = k.account_id
        and w.currency = k.currency limit 1
    ) as w`,
};

/** Returns those of the wallets that exist, without a lock. */
export async function findWallets(
  { pool }: Pick<Postgres, 'pool'>,
  keys: readonly WalletKey[],
): Promise<WalletState[]> {
  const { rows } = await pool.query<WalletRow>({ ...FIND, values: walletKeyLists(keys) });
  return rows.map(toWallet);
}

/** The parameters of `lockHoldsText`: the scope, the time in Unix seconds, and lists with an entry for each wallet. */
export interface HoldParameters {
  readonly tenant: string;
  readonly project: string;
  readonly now: string;
  readonly accounts: string;
  readonly currencies: string;
  /** How much more the wallet holds; negative for less. */
  readonly amounts: string;
  /** Whether the wallet is asked for something, and does not only release. */
  readonly asks: string;
}

/**
 * The text of a query that locks wallets, in the order that all transactions use, and returns their changes. It leaves
 * out a wallet that is asked for something and cannot give it without more work: it is not prepaid, has too little
 * available by now, or has a credit to take back. `limit` makes each wallet one look-up in the index.
 *
 * @param condition on which any wallet is locked
 */
export function lockHoldsText(parameters: HoldParameters, condition: string): string {
  const { tenant, project, now, accounts, currencies, amounts, asks } = parameters;
  return `
    select h.* from (
      select * from unnest(${accounts}::text[], ${currencies}::text[], ${amounts}::numeric[], ${asks}::bool[])
        as h (account_id, currency, amount, asks) order by account_id, currency
    ) as h
    cross join lateral (
      select from wallets w
      where w.tenant_id = ${tenant} and w.project_id = ${project} and w.account_id = h.account_id
        and w.currency = h.currency and (not h.asks or w.mode = 'prepaid' and w.balance - w.reserved >= h.amount
          and coalesce(w.next_expiry_at > ${now}::bigint, true))
      limit 1 for update
    ) as w
    where ${condition}`;
}

/**
 * The text of the update of wallets that `lockHoldsText` has locked. No more is released than is reserved.
 *
 * @param locked the name of the table with their changes
 * @param condition on which they are changed
 */
export function changeHoldsText(
  { tenant, project }: HoldParameters,
  locked: string,
  condition: string,
): string {
  return `update wallets w set reserved = greatest(w.reserved + h.amount, 0) from ${locked} h, ${condition}
      and w.tenant_id = ${tenant} and w.project_id = ${project} and w.account_id = h.account_id
      and w.currency = h.currency and h.amount <> 0`;
}
