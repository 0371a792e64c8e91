import type { Clock } from '../../kernel/clock.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import { isExpiryDue } from './settlement.js';
import { availableIn, reservedAfter, type Wallet, type WalletKey, walletKeyText } from './wallet.js';
import { type Db, listWallets, lockWallets, updateWallets } from './wallet-store.js';

/** What became of a reservation. */
export type Reservation =
  /** The amount is held, until it is released or used. */
  | 'held'
  /** The wallet is postpaid, or not open yet: it has no bound to hold against. Release nothing. */
  | 'not_needed'
  | 'insufficient_funds';

/** What could be reserved of a prepaid wallet just now; undefined when it is postpaid, or not open: nothing bounds it then. */
export async function prepaidAvailable(db: Db, key: WalletKey): Promise<Amount | undefined> {
  const wallets = await listWallets(db, key, key.accountId);
  const wallet = wallets.find(({ currency }) => currency === key.currency);
  return wallet?.mode === 'prepaid' ? availableIn(wallet) : undefined;
}

/** Holds an amount above 0 of a prepaid wallet, if that much is available. Locks the wallet. */
export async function reserve(tx: Tx, key: WalletKey, amount: Amount, clock: Clock): Promise<Reservation> {
  if (amount <= 0n) throw new RangeError('only an amount above 0 can be reserved');
  const [locked] = (await lockWallets(tx, [key])).values();
  if (locked?.mode !== 'prepaid') return 'not_needed';
  const { wallet, hasChanged } = await expireDue(tx, locked, clock);
  const isEnough = availableIn(wallet) >= amount;
  if (isEnough) await updateWallets(tx, [{ ...wallet, reserved: wallet.reserved + amount }]);
  else if (hasChanged) await updateWallets(tx, [wallet]);
  return isEnough ? 'held' : 'insufficient_funds';
}

/** A part of a reservation that is given back, unused. */
export interface Release extends WalletKey {
  readonly amount: Amount;
}

/**
 * Gives back what was held: never more than is reserved. Any number of releases may name the same wallet. Locks the wallets in the
 * order of all.
 */
export async function release(tx: Tx, releases: readonly Release[]): Promise<void> {
  if (releases.length === 0) return;
  const byWallet = new Map<string, Release>();
  for (const { amount, ...key } of releases) {
    const before = byWallet.get(walletKeyText(key))?.amount ?? 0n;
    byWallet.set(walletKeyText(key), { ...key, amount: before + amount });
  }
  const wallets = await lockWallets(tx, [...byWallet.values()]);
  await updateWallets(
    tx,
    [...wallets].map(([key, wallet]) => ({
      ...wallet,
      reserved: reservedAfter(wallet, byWallet.get(key)?.amount ?? 0n),
    })),
  );
}

async function expireDue(
  tx: Tx,
  wallet: Wallet,
  clock: Clock,
): Promise<{ readonly wallet: Wallet; readonly hasChanged: boolean }> {
  if (!isExpiryDue(wallet, clock.nowMs())) return { wallet, hasChanged: false };
  const { wallets, expiries } = await settleWallets(tx, [wallet], clock);
  await insertTransactions(tx, expiries);
  return { wallet: wallets[0] ?? wallet, hasChanged: true };
}
