import type { Clock } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { type Amount, smallerAmount } from './amount.js';
import { addToWallet, keyOf, type LedgerTransaction, type WalletState } from './wallet.js';

/** A credit with something left. */
export interface LiveGrant {
  readonly id: string;
  readonly remaining: Amount;
  /** Unix seconds. */
  readonly expiresAt: number | null;
}

/** The new state of a credit. */
export interface GrantChange {
  readonly projectId: string;
  readonly id: string;
  readonly remaining: Amount;
  readonly hasExpired: boolean;
}

/** A wallet whose credits are up to date. `nextExpiryAt` has still to be read again. */
export interface SettledWallet {
  readonly wallet: WalletState;
  readonly grants: readonly GrantChange[];
  /** One for each credit of which something had to be taken back. */
  readonly expiries: readonly LedgerTransaction[];
}

/**
 * Takes unapplied debits from credits, then takes back what is left of expired credits. That order is exact: a wallet
 * with a due expiry is settled before a debit is added, so all unapplied debits are older than the expiry.
 *
 * @param grants in the order in which they are used up; those that neither an unapplied debit nor an expiry reaches may
 * be left out
 */
export function settle(wallet: WalletState, grants: readonly LiveGrant[], clock: Clock): SettledWallet {
  const createdAtMs = clock.nowMs();
  const changes: GrantChange[] = [];
  const expiries: LedgerTransaction[] = [];
  let settled = wallet;
  for (const { id, remaining, expiresAt } of grants) {
    const used = settled.unappliedDebit > 0n ? smallerAmount(settled.unappliedDebit, remaining) : 0n;
    settled = { ...settled, unappliedDebit: settled.unappliedDebit - used };
    const left = remaining - used;
    const hasExpired = left > 0n && expiresAt !== null && expiresAt * 1_000 <= createdAtMs;
    if (hasExpired) {
      const { wallet: after, entries } = addToWallet(settled, -left, 'expired_credits');
      settled = after;
      const description = `Expiry of ${id}`;
      expiries.push({
        ...keyOf(wallet),
        id: newId('led', clock),
        kind: 'credit_expiry',
        description,
        createdAtMs,
        entries,
      });
    }
    if (used > 0n || hasExpired) {
      changes.push({ projectId: wallet.projectId, id, remaining: hasExpired ? 0n : left, hasExpired });
    }
  }
  return { wallet: settled, grants: changes, expiries };
}
