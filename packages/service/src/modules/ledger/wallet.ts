import type { LedgerAccount, WalletMode } from '@tollgate/contract';
import { type Amount, smallerAmount } from './amount.js';

/** Names a wallet: the balance of one account in one currency. */
export interface WalletKey {
  readonly tenantId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly currency: string;
}

/** A wallet as it stands. See README.md for what always holds between these. */
export interface Wallet extends WalletKey {
  readonly mode: WalletMode;
  readonly balance: Amount;
  /** Usage that a prepaid wallet could not pay. */
  readonly owed: Amount;
  /** Held by active budget leases. */
  readonly reserved: Amount;
  /** Debits that no credit has been used up for yet; below zero for refunds that are used up before any credit. */
  readonly unappliedDebit: Amount;
  /** Unix seconds; no credit with something left expires before. */
  readonly nextExpiryAt: number | null;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** One line of a ledger transaction. */
export interface LedgerEntry {
  readonly ledgerAccount: LedgerAccount;
  readonly amount: Amount;
}

/** A wallet after a movement, and the lines that say so; they add up to zero. */
export interface Movement {
  readonly wallet: Wallet;
  readonly entries: readonly LedgerEntry[];
}

/** Where an amount comes from, or goes to. */
export type CounterAccount = Exclude<LedgerAccount, 'wallet' | 'receivable'>;

/**
 * Adds `delta`, which may be negative, to what a wallet is worth. A prepaid wallet pays what is owed before
 * its balance rises, and owes what its balance cannot pay. The line of the counter account is there even for
 * 0, so that every movement leaves a trace.
 */
export function moved(wallet: Wallet, delta: Amount, counter: CounterAccount): Movement {
  const after = withWorth(wallet, wallet.mode, wallet.balance - wallet.owed + delta);
  const entries = linesBetween(wallet, after);
  entries.push({ ledgerAccount: counter, amount: -delta });
  return { wallet: after, entries };
}

/** A balance below zero becomes owed, and back. There are no lines where neither was. */
export function withMode(wallet: Wallet, mode: WalletMode): Movement {
  const after = withWorth(wallet, mode, wallet.balance - wallet.owed);
  return { wallet: after, entries: linesBetween(wallet, after) };
}

/** What can be reserved, or taken out by hand: below zero when usage took what was reserved. */
export function availableIn({ balance, reserved }: Wallet): Amount {
  return balance - reserved;
}

/** What stays reserved when an amount is given back: never more than is there. */
export function reservedAfter({ reserved }: Wallet, released: Amount): Amount {
  return reserved - smallerAmount(released, reserved);
}

/** The wallet's name alone. */
export function keyOf({ tenantId, projectId, accountId, currency }: WalletKey): WalletKey {
  return { tenantId, projectId, accountId, currency };
}

/** By text, so that a list of wallets has one key for each. */
export function walletKeyText({ accountId, currency }: Pick<WalletKey, 'accountId' | 'currency'>): string {
  return `${accountId} ${currency}`;
}

function withWorth(wallet: Wallet, mode: WalletMode, worth: Amount): Wallet {
  const isShort = mode === 'prepaid' && worth < 0n;
  return { ...wallet, mode, balance: isShort ? 0n : worth, owed: isShort ? -worth : 0n };
}

function linesBetween(before: Wallet, after: Wallet): LedgerEntry[] {
  const lines: LedgerEntry[] = [];
  const kept = after.balance - before.balance;
  const owedLess = before.owed - after.owed;
  if (kept !== 0n) lines.push({ ledgerAccount: 'wallet', amount: kept });
  if (owedLess !== 0n) lines.push({ ledgerAccount: 'receivable', amount: owedLess });
  return lines;
}
