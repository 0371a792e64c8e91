import { type Amount, amountText, smallerAmount } from './amount.js';
import type { GrantChange, LiveGrant } from './settlement.js';
import { earlierExpiry, type WalletState } from './wallet.js';

/** A credit of which something was used and that has not expired. */
export interface UsedGrant extends LiveGrant {
  /** The amount that it held when it was added. */
  readonly amount: Amount;
}

/** A wallet after a refill. Balance and owed amount have still to be raised by the returned amount. */
export interface RefilledWallet {
  readonly wallet: WalletState;
  readonly grants: readonly GrantChange[];
}

/** Returns the part of a returned amount for credits: the rest repays the debits that no credit was left for. */
export function returnedToGrants({ unappliedDebit }: WalletState, returned: Amount): Amount {
  return unappliedDebit > 0n ? returned - smallerAmount(unappliedDebit, returned) : returned;
}

/**
 * Distributes an amount that usage or a correction returns to a settled wallet. It repays the debits that no credit was
 * left for, then refills credits, never above what each held. The rest lowers `unappliedDebit` below zero: it belongs
 * to no credit, is used up before any credit, and does not expire.
 *
 * @param returned above 0
 * @param grants in the order in which they are refilled, which is the reverse of that in which they are used up; those
 * that the amount does not reach may be left out
 * @throws Error for a credit with more left than it held: nothing may be written
 */
export function refill(wallet: WalletState, returned: Amount, grants: readonly UsedGrant[]): RefilledWallet {
  if (returned <= 0n) throw new RangeError('only an amount above 0 is returned to a wallet');
  const changes: GrantChange[] = [];
  let open = returnedToGrants(wallet, returned);
  let refilled = 0n;
  let { nextExpiryAt } = wallet;
  for (const { id, amount, remaining, expiresAt } of grants) {
    if (remaining < 0n || remaining > amount) {
      throw new Error(`credit ${id} of ${amountText(amount)} has ${amountText(remaining)} left`);
    }
    const added = smallerAmount(open, amount - remaining);
    if (added === 0n) continue;
    open -= added;
    refilled += added;
    nextExpiryAt = earlierExpiry(nextExpiryAt, expiresAt);
    changes.push({ projectId: wallet.projectId, id, remaining: remaining + added, hasExpired: false });
  }
  const unappliedDebit = wallet.unappliedDebit - (returned - refilled);
  return { wallet: { ...wallet, unappliedDebit, nextExpiryAt }, grants: changes };
}
