import type { Clock } from '../../kernel/clock.js';
import type { Postgres, Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import { isExpiryDue } from './settlement.js';
import { availableIn, reservedAfter, type Wallet, type WalletKey, walletKeyText } from './wallet.js';
import { lockWallets, readAvailable, updateWallets } from './wallet-store.js';

/** What became of a reservation. */
export type Reservation =
  /** The amount is held, until it is released or used. */
  | 'held'
  /** The wallet is postpaid, or not open yet: it has no bound to hold against. Release nothing. */
  | 'not_needed'
  | 'insufficient_funds';

/** A part of a reservation that is given back, unused. */
export interface Release extends WalletKey {
  readonly amount: Amount;
}

/**
 * What could be reserved of prepaid wallets just now, one answer for each key; undefined for those that are
 * postpaid, or not open: nothing bounds them then.
 */
export async function prepaidAvailable(
  postgres: Pick<Postgres, 'pool'>,
  keys: readonly WalletKey[],
): Promise<(Amount | undefined)[]> {
  const available = await readAvailable(postgres, keys);
  return keys.map((key) => available.get(walletKeyText(key)));
}

/**
 * Wallets that a transaction has locked, to hold amounts of them and to give those back: decided in memory,
 * and written at once.
 */
export class WalletHolds {
  readonly #changed = new Map<string, Wallet>();

  private constructor(private readonly wallets: Map<string, Wallet>) {}

  /** Locks those of the wallets that are open, in the order of all; what has expired in them is taken back first. */
  static async lock(tx: Tx, keys: readonly WalletKey[], clock: Clock): Promise<WalletHolds> {
    const distinct = new Map(keys.map((key) => [walletKeyText(key), key]));
    if (distinct.size === 0) return new WalletHolds(new Map());
    const holds = new WalletHolds(await lockWallets(tx, [...distinct.values()]));
    await holds.#expireDue(tx, clock);
    return holds;
  }

  /** Holds an amount above 0 of a prepaid wallet, if that much is available. */
  reserve(key: WalletKey, amount: Amount): Reservation {
    if (amount <= 0n) throw new RangeError('only an amount above 0 can be reserved');
    const wallet = this.wallets.get(walletKeyText(key));
    if (wallet?.mode !== 'prepaid') return 'not_needed';
    if (availableIn(wallet) < amount) return 'insufficient_funds';
    this.#set({ ...wallet, reserved: wallet.reserved + amount });
    return 'held';
  }

  /** Returns what could be held of an open wallet. */
  availableIn(key: WalletKey): Amount {
    const wallet = this.wallets.get(walletKeyText(key));
    if (wallet === undefined) throw new Error('the wallet was not locked');
    return availableIn(wallet);
  }

  /** Gives back what was held: never more than is reserved. */
  release({ amount, ...key }: Release): void {
    const wallet = this.wallets.get(walletKeyText(key));
    if (wallet !== undefined) this.#set({ ...wallet, reserved: reservedAfter(wallet, amount) });
  }

  async write(tx: Tx): Promise<void> {
    if (this.#changed.size > 0) await updateWallets(tx, [...this.#changed.values()]);
  }

  async #expireDue(tx: Tx, clock: Clock): Promise<void> {
    const nowMs = clock.nowMs();
    const due = [...this.wallets.values()].filter((wallet) => isExpiryDue(wallet, nowMs));
    const { wallets, expiries } = await settleWallets(tx, due, clock);
    if (expiries.length > 0) await insertTransactions(tx, expiries);
    for (const wallet of wallets) this.#set(wallet);
  }

  #set(wallet: Wallet): void {
    const key = walletKeyText(wallet);
    this.wallets.set(key, wallet);
    this.#changed.set(key, wallet);
  }
}
