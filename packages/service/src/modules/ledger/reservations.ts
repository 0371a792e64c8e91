import type { Clock } from '../../kernel/clock.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import {
  availableIn,
  isExpiryDue,
  reservedAfter,
  type WalletKey,
  type WalletState,
  walletKeyText,
} from './wallet.js';
import { lockWallets, updateWallets } from './wallet-store.js';

/** The result of a reservation. */
export type Reservation =
  /** The amount is held until it is released or used. */
  | 'held'
  /** The wallet is postpaid, or not open yet: there is no bound to hold against. Release nothing. */
  | 'not_needed'
  | 'insufficient_funds';

/** A part of a reservation that is released unused. */
export interface Release extends WalletKey {
  readonly amount: Amount;
}

/**
 * Wallets that a transaction has locked to reserve and release amounts. Changes are decided in memory, and written at
 * once.
 */
export class WalletHolds {
  readonly #wallets: Map<string, WalletState>;
  readonly #changed = new Map<string, WalletState>();

  private constructor(wallets: Map<string, WalletState>) {
    this.#wallets = wallets;
  }

  /** Returns no wallets: for amounts that no wallet holds. */
  static none(): WalletHolds {
    return new WalletHolds(new Map());
  }

  /**
   * Locks those of the wallets that are open, in the order that all transactions use, and takes back expired credits
   * first.
   */
  static async lock(tx: Tx, keys: readonly WalletKey[], clock: Clock): Promise<WalletHolds> {
    const distinct = new Map(keys.map((key) => [walletKeyText(key), key]));
    if (distinct.size === 0) return WalletHolds.none();
    const holds = new WalletHolds(await lockWallets(tx, [...distinct.values()]));
    await holds.#expireDue(tx, clock);
    return holds;
  }

  /** Reserves an amount above 0 of a prepaid wallet, if that much is available. */
  reserve(key: WalletKey, amount: Amount): Reservation {
    if (amount <= 0n) throw new RangeError('only an amount above 0 can be reserved');
    const wallet = this.#wallets.get(walletKeyText(key));
    if (wallet?.mode !== 'prepaid') return 'not_needed';
    if (availableIn(wallet) < amount) return 'insufficient_funds';
    this.#set({ ...wallet, reserved: wallet.reserved + amount });
    return 'held';
  }

  /** Returns how much could be reserved of an open wallet. */
  availableIn(key: WalletKey): Amount {
    const wallet = this.#wallets.get(walletKeyText(key));
    if (wallet === undefined) throw new Error('the wallet was not locked');
    return availableIn(wallet);
  }

  /** Releases a reserved amount; more than is reserved is not released. */
  release({ amount, ...key }: Release): void {
    const wallet = this.#wallets.get(walletKeyText(key));
    if (wallet !== undefined) this.#set({ ...wallet, reserved: reservedAfter(wallet, amount) });
  }

  async write(tx: Tx): Promise<void> {
    if (this.#changed.size > 0) await updateWallets(tx, [...this.#changed.values()]);
  }

  async #expireDue(tx: Tx, clock: Clock): Promise<void> {
    const nowMs = clock.nowMs();
    const due = [...this.#wallets.values()].filter((wallet) => isExpiryDue(wallet, nowMs));
    const { wallets, expiries } = await settleWallets(tx, due, clock);
    if (expiries.length > 0) await insertTransactions(tx, expiries);
    for (const wallet of wallets) this.#set(wallet);
  }

  #set(wallet: WalletState): void {
    const key = walletKeyText(wallet);
    this.#wallets.set(key, wallet);
    this.#changed.set(key, wallet);
  }
}
