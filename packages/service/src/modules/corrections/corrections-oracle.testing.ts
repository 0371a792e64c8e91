import { present } from '../../kernel/present.js';
import { WalletOracle } from '../../testing/wallet-oracle.js';
import type { TestContent, TestPrices } from './project.testing.js';
import { rated, type Truth } from './truth.testing.js';
import { WindowOracle } from './window-oracle.testing.js';

export interface OracleEvent {
  readonly id: string;
  readonly atS: number;
  readonly sent: TestContent;
  /** The revisions, oldest first; none before the event is rated. */
  readonly revisions: Truth[];
  /** The correction that made the revision in force, if any. */
  madeBy: string;
}

/** The events of a correction before it changed them. */
type ChangedEvents = Map<OracleEvent, { readonly revision: number; readonly madeBy: string }>;

/** The state that the service must show, computed event by event and transaction by transaction. */
export class CorrectionsOracle {
  prices: TestPrices = { token: '0.5' };
  /** By subject. */
  readonly accounts = new Map<string, string>();
  readonly events: OracleEvent[] = [];
  readonly windows = new WindowOracle();
  readonly corrections = new Map<string, ChangedEvents>();
  duplicates = 0;
  /** Requests to rate failed events again. */
  readonly reprocess = new Set<OracleEvent>();
  readonly #wallets = new Map<string, WalletOracle>();

  /** Events that were rated, in the order of their ids. */
  get ratedEvents(): OracleEvent[] {
    return this.events
      .filter(({ revisions }) => revisions.length > 0)
      .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
  }

  /** By account and currency, with a space between them. */
  get wallets(): ReadonlyMap<string, WalletOracle> {
    return this.#wallets;
  }

  wallet(accountId: string, currency: string): WalletOracle {
    const key = `${accountId} ${currency}`;
    const wallet = this.#wallets.get(key) ?? new WalletOracle();
    this.#wallets.set(key, wallet);
    return wallet;
  }

  accountOf = (subject: string): string => this.accounts.get(subject) ?? '';

  send(ids: readonly string[], contents: readonly TestContent[], atS: number): void {
    for (const [index, id] of ids.entries()) {
      if (this.events.some((event) => event.id === id)) this.duplicates++;
      else this.events.push({ id, atS, sent: present(contents[index], id), revisions: [], madeBy: '' });
    }
  }

  /** Rates all accepted events, and the failed ones that are to be rated again, in one transaction. */
  rate(nowS: number): void {
    const changes = new Map<OracleEvent, Truth>();
    for (const event of this.events) {
      const former = event.revisions.at(-1);
      const isAgain = former?.status === 'failed' && this.reprocess.has(event);
      if (former !== undefined && !isAgain) continue;
      const truth = rated(former?.content ?? event.sent, this.prices);
      const isPriced = truth.items.some(({ currency }) => currency !== '');
      changes.set(event, { ...truth, account: isPriced ? this.accountOf(truth.subject) : '' });
    }
    this.reprocess.clear();
    this.#post(changes, nowS, false);
    // To rate a failed event again changes its revision.
    for (const [event, truth] of changes)
      event.revisions.splice(Math.max(0, event.revisions.length - 1), 1, truth);
  }

  /** Applies a part of a correction. */
  correct(correctionId: string, changes: ReadonlyMap<OracleEvent, Truth>, nowS: number): void {
    const changed = this.corrections.get(correctionId) ?? new Map();
    this.corrections.set(correctionId, changed);
    for (const event of changes.keys()) {
      changed.set(event, { revision: event.revisions.length, madeBy: event.madeBy });
      event.madeBy = correctionId;
    }
    this.#add(changes, nowS, false);
  }

  isSuperseded(correctionId: string): boolean {
    const changed = this.corrections.get(correctionId) ?? new Map();
    return [...changed.keys()].some(({ madeBy }) => madeBy !== correctionId);
  }

  /** Gives the events of a part their former revisions again. */
  revert(correctionId: string, events: readonly OracleEvent[], nowS: number): void {
    const changed = present(this.corrections.get(correctionId), correctionId);
    const changes = new Map<OracleEvent, Truth>();
    for (const event of events) {
      const { revision, madeBy } = present(changed.get(event), event.id);
      changes.set(event, present(event.revisions[revision - 1], event.id));
      event.madeBy = madeBy;
      changed.delete(event);
    }
    this.#add(changes, nowS, true);
  }

  #add(changes: ReadonlyMap<OracleEvent, Truth>, nowS: number, isRevert: boolean): void {
    this.#post(changes, nowS, isRevert);
    for (const [event, truth] of changes) event.revisions.push(truth);
  }

  #post(changes: ReadonlyMap<OracleEvent, Truth>, nowS: number, isRevert: boolean): void {
    const debits = new Map<string, bigint>();
    const add = ({ account, items }: Truth, sign: bigint) => {
      for (const { currency, amount } of items) {
        if (account === '' || currency === '') continue;
        const key = `${account} ${currency}`;
        debits.set(key, (debits.get(key) ?? 0n) + sign * amount);
      }
    };
    for (const [event, truth] of changes) {
      const former = event.revisions.at(-1);
      if (former !== undefined) add(former, -1n);
      add(truth, 1n);
      this.windows.count(event.atS, former, truth, isRevert);
    }
    for (const [key, debit] of debits) {
      const [account = '', currency = ''] = key.split(' ');
      const wallet = this.wallet(account, currency);
      wallet.expire(nowS);
      if (debit > 0n) wallet.debit(debit);
      else if (debit < 0n) wallet.giveBack(-debit);
    }
    this.windows.endTransaction(nowS);
  }
}
