import type { Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import { isExpiryDue } from './settlement.js';
import type { LedgerTransaction } from './transaction.js';
import { moved, reservedAfter, type Wallet, type WalletKey, walletKeyText } from './wallet.js';
import { openAndLock, updateWallets } from './wallet-store.js';

/** What the usage of one batch costs one wallet. */
export interface UsageDebit extends WalletKey {
  /**
   * The id that the ledger transaction gets, `led_…`: charge items name it before it is written. Undefined
   * where nothing is debited and a reservation alone is given back.
   */
  readonly transactionId: string | undefined;
  /** Below zero for a refund; 0 posts a transaction of one line. */
  readonly amount: Amount;
  /** What the batch has used of reservations, and gives back: at most what is reserved is. 0 or more. */
  readonly released: Amount;
}

/**
 * Debits wallets for the usage of a batch, opening those that do not exist, one ledger transaction for each.
 * Takes a fixed number of statements, however many wallets; locks them in the order of all. Their accounts
 * must exist.
 *
 * @param debits at most one for each wallet
 * @param atMs milliseconds since the Unix epoch
 */
export async function postUsage(tx: Tx, debits: readonly UsageDebit[], atMs: number): Promise<void> {
  if (debits.length === 0) return;
  const byWallet = new Map(debits.map((debit) => [walletKeyText(debit), debit]));
  if (byWallet.size !== debits.length) throw new RangeError('a batch debits each wallet once');
  const clock = { nowMs: () => atMs };
  const wallets = await openAndLock(tx, debits, Math.floor(atMs / 1_000));
  const stale = [...byWallet].flatMap(([key, debit]) => {
    const wallet = walletOf(wallets, key);
    return mustSettle(wallet, debit, atMs) ? [wallet] : [];
  });
  const settled = await settleWallets(tx, stale, clock);
  for (const wallet of settled.wallets) wallets.set(walletKeyText(wallet), wallet);
  const transactions: LedgerTransaction[] = [...settled.expiries];
  for (const [key, debit] of byWallet) {
    const before = walletOf(wallets, key);
    const id = debit.transactionId;
    if (id === undefined) {
      if (debit.amount !== 0n) throw new RangeError('a debit needs a transaction');
      wallets.set(key, { ...before, reserved: reservedAfter(before, debit.released) });
      continue;
    }
    const { wallet, entries } = moved(before, -debit.amount, 'usage');
    wallets.set(key, {
      ...wallet,
      unappliedDebit: before.unappliedDebit + debit.amount,
      reserved: reservedAfter(before, debit.released),
    });
    const { tenantId, projectId, accountId, currency } = debit;
    transactions.push({
      tenantId,
      projectId,
      accountId,
      currency,
      id,
      kind: 'usage',
      description: null,
      createdAtMs: atMs,
      entries,
    });
  }
  await updateWallets(tx, [...wallets.values()]);
  await insertTransactions(tx, transactions);
}

/**
 * Debits may wait to be taken from credits as long as the credits stay as they are. A refund is used up
 * before any credit, so what was debited before it must have been taken from credits: else it would depend on
 * when somebody looked.
 */
function mustSettle(wallet: Wallet, { amount }: UsageDebit, atMs: number): boolean {
  return isExpiryDue(wallet, atMs) || (amount < 0n && wallet.unappliedDebit > 0n);
}

function walletOf(wallets: ReadonlyMap<string, Wallet>, key: string): Wallet {
  const wallet = wallets.get(key);
  if (wallet === undefined) throw new Error(`wallet ${key} was not opened`);
  return wallet;
}
