import type { Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { insertTransactions } from './ledger-store.js';
import { refillWallets } from './refill-wallets.js';
import { settleWallets } from './settle-wallets.js';
import {
  addToWallet,
  isExpiryDue,
  keyOf,
  type LedgerLine,
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
  /** Below zero for money that is returned, by refunds or lower prices; 0 posts a transaction of one line. */
  readonly amount: Amount;
  /**
   * The part of the reserved amount that the batch has used and that is released now; 0 or more. More than is reserved
   * is not released.
   */
  readonly released: Amount;
}

/** The net debit of one wallet for the events that one batch of a correction changes. */
export interface CorrectionDebit extends WalletKey {
  /** The id of the ledger transaction, `led_…`. */
  readonly transactionId: string;
  /** The correction that the transaction names. */
  readonly correctionId: string;
  /** The new debits less the former ones; below zero for money that is returned. 0 posts a transaction of one line. */
  readonly amount: Amount;
}

/** A debit of either kind. */
interface Debit extends UsageDebit {
  readonly correctionId?: string;
}

/**
 * Debits wallets for the usage of a batch, with one ledger transaction for each, and opens those that do not exist.
 * Takes a fixed number of statements, however many wallets; locks them in the order that all transactions use. Their
 * accounts must exist. Returned money refills credits (see `refill`).
 *
 * @param debits at most one for each wallet
 * @param atMs milliseconds since the Unix epoch
 */
export function postUsage(tx: Tx, debits: readonly UsageDebit[], atMs: number): Promise<void> {
  return postDebits(tx, debits, atMs);
}

/**
 * Posts the changed debits of a batch of a correction as `postUsage` does. The ledger transactions name the correction.
 *
 * @param debits at most one for each wallet
 * @param atMs milliseconds since the Unix epoch
 */
export function postCorrections(tx: Tx, debits: readonly CorrectionDebit[], atMs: number): Promise<void> {
  return postDebits(
    tx,
    debits.map((debit) => ({ ...debit, released: 0n })),
    atMs,
  );
}

async function postDebits(tx: Tx, debits: readonly Debit[], atMs: number): Promise<void> {
  if (debits.length === 0) return;
  const byWallet = new Map(debits.map((debit) => [walletKeyText(debit), debit]));
  if (byWallet.size !== debits.length) throw new RangeError('a batch debits each wallet once');
  const wallets = await openAndLock(tx, debits, secondsOf(atMs));
  const stale = [...byWallet].flatMap(([key, debit]) => {
    const wallet = walletOf(wallets, key);
    return mustSettle(wallet, debit, atMs) ? [wallet] : [];
  });
  const settled = await settleWallets(tx, stale, { nowMs: () => atMs });
  for (const wallet of settled.wallets) wallets.set(walletKeyText(wallet), wallet);
  const refilled = await refillReturns(tx, wallets, debits, atMs);
  const transactions: LedgerTransaction[] = [...settled.expiries];
  for (const [key, debit] of byWallet) {
    const before = walletOf(wallets, key);
    const { amount, released } = debit;
    const reserved = reservedAfter(before, released);
    if (debit.transactionId === undefined) {
      if (amount !== 0n) throw new RangeError('a debit other than 0 needs a transaction id');
      wallets.set(key, { ...before, reserved });
      continue;
    }
    const { unappliedDebit, nextExpiryAt } = refilled.get(key) ?? {
      ...before,
      unappliedDebit: before.unappliedDebit + amount,
    };
    const { wallet, entries } = addToWallet(before, -amount, 'usage');
    wallets.set(key, { ...wallet, unappliedDebit, nextExpiryAt, reserved });
    transactions.push(transactionOf(debit, debit.transactionId, entries, atMs));
  }
  await updateWallets(tx, [...wallets.values()]);
  await insertTransactions(tx, transactions);
}

/** Refills the credits of wallets to which debits below zero return money; returns these wallets by `walletKeyText`. */
async function refillReturns(
  tx: Tx,
  wallets: ReadonlyMap<string, WalletState>,
  debits: readonly Debit[],
  atMs: number,
): Promise<Map<string, WalletState>> {
  const returns = debits
    .filter(({ amount }) => amount < 0n)
    .map((debit) => ({ wallet: walletOf(wallets, walletKeyText(debit)), returned: -debit.amount }));
  if (returns.length === 0) return new Map();
  const refilled = await refillWallets(tx, returns, secondsOf(atMs));
  return new Map(refilled.map((wallet) => [walletKeyText(wallet), wallet]));
}

function transactionOf(
  debit: Debit,
  id: string,
  entries: readonly LedgerLine[],
  createdAtMs: number,
): LedgerTransaction {
  const { correctionId } = debit;
  const kind = correctionId === undefined ? 'usage' : 'correction';
  return { ...keyOf(debit), id, kind, description: null, correctionId, createdAtMs, entries };
}

function secondsOf(atMs: number): number {
  return Math.floor(atMs / 1_000);
}

/**
 * Whether the wallet must be settled before the debit. Debits may wait to be taken from credits as long as the credits
 * do not change. Returned money refills credits, so earlier debits must be taken from credits first; otherwise the
 * result would depend on when the wallet was settled.
 */
function mustSettle(wallet: WalletState, { amount }: UsageDebit, atMs: number): boolean {
  return isExpiryDue(wallet, atMs) || (amount < 0n && wallet.unappliedDebit > 0n);
}

function walletOf(wallets: ReadonlyMap<string, WalletState>, key: string): WalletState {
  const wallet = wallets.get(key);
  if (wallet === undefined) throw new Error(`wallet ${key} was not opened`);
  return wallet;
}
