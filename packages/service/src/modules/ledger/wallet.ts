import type { LedgerAccount, LedgerKind, WalletMode } from '@tollgate/contract';
import { keyNumber } from '../../platform/changes/index.js';
import { type Amount, amountText, smallerAmount } from './amount.js';

/** Identifies a wallet: the balance of one account in one currency. */
export interface WalletKey {
  readonly tenantId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly currency: string;
}

/** The state of a wallet. README.md states what always holds between these fields. */
export interface WalletState extends WalletKey {
  readonly mode: WalletMode;
  readonly balance: Amount;
  /** Usage that a prepaid wallet could not pay. */
  readonly owed: Amount;
  /** Reserved by active budget leases. */
  readonly reserved: Amount;
  /** Debits not taken from credits yet; below zero for returned money without a credit, which is used up first. */
  readonly unappliedDebit: Amount;
  /** Unix seconds; no credit with something left expires earlier. */
  readonly nextExpiryAt: number | null;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** One line of a ledger transaction. */
export interface LedgerLine {
  readonly ledgerAccount: LedgerAccount;
  readonly amount: Amount;
}

/** A wallet after a movement, and the lines of the movement; they add up to zero. */
export interface WalletMovement {
  readonly wallet: WalletState;
  readonly entries: readonly LedgerLine[];
}

/** The account that an amount comes from or goes to. */
export type CounterAccount = Exclude<LedgerAccount, 'wallet' | 'receivable'>;

/**
 * Adds `delta`, which may be negative, to a wallet's worth. A prepaid wallet pays its debt before its balance rises,
 * and owes what its balance cannot pay. The counter account has a line even for 0, so that every movement leaves a
 * trace.
 */
export function addToWallet(wallet: WalletState, delta: Amount, counter: CounterAccount): WalletMovement {
  const after = withWorth(wallet, wallet.mode, wallet.balance - wallet.owed + delta);
  const entries = linesBetween(wallet, after);
  entries.push({ ledgerAccount: counter, amount: -delta });
  return { wallet: after, entries };
}

/** Changes the mode. A balance below zero becomes debt, and back; there are no lines where neither exists. */
export function withMode(wallet: WalletState, mode: WalletMode): WalletMovement {
  const after = withWorth(wallet, mode, wallet.balance - wallet.owed);
  return { wallet: after, entries: linesBetween(wallet, after) };
}

/** Returns how much can be reserved or taken out by hand; below zero when usage took reserved amounts. */
export function availableIn({ balance, reserved }: WalletState): Amount {
  return balance - reserved;
}

/** Returns what stays reserved when an amount is released; more than is reserved is not released. */
export function reservedAfter({ reserved }: WalletState, released: Amount): Amount {
  return reserved - smallerAmount(released, reserved);
}

/** Whether a credit of the wallet may have to be taken back. */
export function isExpiryDue({ nextExpiryAt }: WalletState, nowMs: number): boolean {
  return nextExpiryAt !== null && nextExpiryAt * 1_000 <= nowMs;
}

/** Returns the earlier of two expiries; null stands for none. */
export function earlierExpiry(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** Returns the key of a wallet without its other fields. */
export function keyOf({ tenantId, projectId, accountId, currency }: WalletKey): WalletKey {
  return { tenantId, projectId, accountId, currency };
}

/** Returns a key as text, for maps of wallets. */
export function walletKeyText({ accountId, currency }: Pick<WalletKey, 'accountId' | 'currency'>): string {
  return `${accountId} ${currency}`;
}

/** Returns the number of a wallet in notes of changes. */
export function walletNumber({ projectId, accountId, currency }: WalletKey): number {
  return keyNumber(`${projectId} ${accountId} ${currency}`);
}

function withWorth(wallet: WalletState, mode: WalletMode, worth: Amount): WalletState {
  const isShort = mode === 'prepaid' && worth < 0n;
  return { ...wallet, mode, balance: isShort ? 0n : worth, owed: isShort ? -worth : 0n };
}

function linesBetween(before: WalletState, after: WalletState): LedgerLine[] {
  const lines: LedgerLine[] = [];
  const kept = after.balance - before.balance;
  const owedLess = before.owed - after.owed;
  if (kept !== 0n) lines.push({ ledgerAccount: 'wallet', amount: kept });
  if (owedLess !== 0n) lines.push({ ledgerAccount: 'receivable', amount: owedLess });
  return lines;
}

/** One immutable movement of one wallet. */
export interface LedgerTransaction extends WalletKey {
  /** `led_…`. */
  readonly id: string;
  readonly kind: LedgerKind;
  readonly description: string | null;
  /** The correction that the transaction belongs to; set for the kind `correction` only. */
  readonly correctionId?: string | undefined;
  readonly createdAtMs: number;
  readonly entries: readonly LedgerLine[];
}

/** A bug: nothing is written, and the database transaction ends. */
export class UnbalancedTransactionError extends Error {
  override readonly name = 'UnbalancedTransactionError';
}

/**
 * Called before every write.
 *
 * @throws UnbalancedTransactionError unless there are lines, and they add up to zero
 */
export function assertBalanced({ id, kind, entries }: LedgerTransaction): void {
  let sum = 0n;
  for (const { amount } of entries) sum += amount;
  if (sum === 0n && entries.length > 0) return;
  throw new UnbalancedTransactionError(
    `the ${entries.length} lines of ${kind} transaction ${id} add up to ${amountText(sum)}`,
  );
}
