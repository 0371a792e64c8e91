import type { Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { readUsedGrants, updateGrants } from './grant-store.js';
import { refill, returnedToGrants } from './refill.js';
import { type WalletState, walletKeyText } from './wallet.js';

/** An amount above 0 that is returned to a locked, settled wallet. */
export interface Return {
  readonly wallet: WalletState;
  readonly returned: Amount;
}

/**
 * Distributes returned amounts as `refill` does, and writes the credits. The caller raises balance and owed amount, and
 * writes the wallets. Takes a fixed number of statements, however many wallets.
 *
 * @param atS Unix seconds
 * @returns the wallets, in the order in which they were passed
 */
export async function refillWallets(tx: Tx, returns: readonly Return[], atS: number): Promise<WalletState[]> {
  const reaching = returns
    .map(({ wallet, returned }) => ({ ...wallet, amount: returnedToGrants(wallet, returned) }))
    .filter(({ amount }) => amount > 0n);
  const grants = reaching.length === 0 ? undefined : await readUsedGrants(tx, reaching, atS);
  const refills = returns.map(({ wallet, returned }) =>
    refill(wallet, returned, grants?.get(walletKeyText(wallet)) ?? []),
  );
  const changes = refills.flatMap((refilled) => refilled.grants);
  if (changes.length > 0) await updateGrants(tx, changes, atS);
  return refills.map(({ wallet }) => wallet);
}
