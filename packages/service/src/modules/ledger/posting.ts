import type { Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import {
  addToWallet,
  isExpiryDue,
  type LedgerTransaction,
  reservedAfter,
  type WalletKey,
  type WalletState,
  walletKeyText,
} from './wallet.js';
import { openAndLock, updateWallets } from './wallet-store.js';

/** The debit of one wallet for the usage of one batch. */
export interface UsageDebit extends WalletKey {
  /**
   * The id of the ledger transaction, `led_…`: charge items name it before it is written. Undefined where nothing is
   * debited and only a reservation is released.
   */
  readonly transactionId: string | undefined;
  /** Below zero for a refund; 0 posts a transaction of one line. */
  readonly amount: Amount;
  /**
   * The part of the reserved amount that the batch has used and that is released now; 0 or more. More than is reserved
   * is not released.
   */
  readonly released: Amount;
}

/**
 * Debits wallets for the usage of a batch, with one ledger transaction for each, and opens those that do not exist.
 * Takes a fixed number of statements, however many wallets; locks them in the order that all transactions use. Their
 * accounts must exist.
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
      if (debit.amount !== 0n) throw new RangeError('a debit other than 0 needs a transaction id');
      wallets.set(key, { ...before, reserved: reservedAfter(before, debit.released) });
      continue;
    }
    const { wallet, entries } = addToWallet(before, -debit.amount, 'usage');
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
 * Whether the wallet must be settled before the debit. Debits may wait to be taken from credits as long as the credits
 * do not change. A refund is used up before any credit, so earlier debits must be taken from credits first; otherwise
 * the result would depend on when the wallet was settled.
 */
function mustSettle(wallet: WalletState, { amount }: UsageDebit, atMs: number): boolean {
  return isExpiryDue(wallet, atMs) || (amount < 0n && wallet.unappliedDebit > 0n);
}

function walletOf(wallets: ReadonlyMap<string, WalletState>, key: string): WalletState {
  const wallet = wallets.get(key);
  if (wallet === undefined) throw new Error(`wallet ${key} was not opened`);
  return wallet;
}
