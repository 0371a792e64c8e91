import type { Clock } from '../../kernel/clock.js';
import { sumOrNone } from '../../kernel/present.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { Amount } from './amount.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import {
  availableIn,
  isExpiryDue,
  keyOf,
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

/** The sum of some reservations and releases of a wallet. */
export interface HoldChange extends WalletKey {
  /** Negative for less. */
  readonly amount: Amount;
  /** Whether anything was reserved, so that the wallet must still have the amount available when it is written. */
  readonly asks: boolean;
}

/**
 * Wallets that a transaction has locked to reserve and release amounts, or that were read without a lock. Changes are
 * decided in memory, and written at once.
 */
export class WalletHolds {
  readonly #wallets: Map<string, WalletState>;
  readonly #changed = new Map<string, WalletState>();
  readonly #changes = new Map<string, HoldChange>();

  private constructor(wallets: Map<string, WalletState>) {
    this.#wallets = wallets;
  }

  /** Returns no wallets: for amounts that no wallet holds. */
  static none(): WalletHolds {
    return new WalletHolds(new Map());
  }

  /**
   * Returns wallets as they were read without a lock. Decisions about them are written only if the wallets can still
   * hold their `changes`. Undefined if one has an expired credit, which only a transaction can take back.
   */
  static unlocked(wallets: readonly WalletState[], clock: Clock): WalletHolds | undefined {
    const nowMs = clock.nowMs();
    if (wallets.some((wallet) => isExpiryDue(wallet, nowMs))) return undefined;
    return new WalletHolds(new Map(wallets.map((wallet) => [walletKeyText(wallet), wallet])));
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
    this.#note(key, amount, true);
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
    this.#note(key, -amount, false);
  }

  /** The sums of what was reserved and released, also of wallets that were not read. */
  get changes(): HoldChange[] {
    return [...this.#changes.values()];
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

  #note(wallet: WalletKey, amount: Amount, asks: boolean): void {
    const key = walletKeyText(wallet);
    const before = this.#changes.get(key);
    const sum = sumOrNone(before?.amount) + amount;
    this.#changes.set(key, { ...keyOf(wallet), amount: sum, asks: asks || before?.asks === true });
  }

  #set(wallet: WalletState): void {
    const key = walletKeyText(wallet);
    this.#wallets.set(key, wallet);
    this.#changed.set(key, wallet);
  }
}
