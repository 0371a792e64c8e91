import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Tx } from '../../platform/postgres/index.js';
import { readNextExpiries, readReachedGrants, updateGrants } from './grant-store.js';
import { settle } from './settlement.js';
import { type LedgerTransaction, type WalletState, walletKeyText } from './wallet.js';

/** Wallets whose credits are up to date, and the transactions to write with them. */
export interface SettledWallets {
  /** In the order in which they were passed. */
  readonly wallets: readonly WalletState[];
  readonly expiries: readonly LedgerTransaction[];
}

/**
 * Brings the credits of locked wallets up to date and writes the credits. The caller writes the wallets and the
 * expiries, together with its own changes. Takes a fixed number of statements, however many wallets.
 */
export async function settleWallets(
  tx: Tx,
  wallets: readonly WalletState[],
  clock: Clock,
): Promise<SettledWallets> {
  if (wallets.length === 0) return { wallets, expiries: [] };
  const atS = unixSeconds(clock);
  const grants = await readReachedGrants(tx, wallets, atS);
  const settlements = wallets.map((wallet) => settle(wallet, grants.get(walletKeyText(wallet)) ?? [], clock));
  const changes = settlements.flatMap((settlement) => settlement.grants);
  if (changes.length > 0) await updateGrants(tx, changes, atS);
  const nextExpiries = await readNextExpiries(tx, wallets);
  return {
    wallets: settlements.map(({ wallet }) => ({
      ...wallet,
      nextExpiryAt: nextExpiries.get(walletKeyText(wallet)) ?? null,
    })),
    expiries: settlements.flatMap(({ expiries }) => expiries),
  };
}
