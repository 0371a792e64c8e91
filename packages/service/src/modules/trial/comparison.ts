import {
  BACKTEST_TOTALS_MAX,
  type BacktestResult,
  type BacktestTotal,
  type UsageChargeItem,
} from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { fromStored, parseDecimal, toStored, toText } from '../../kernel/decimal.js';
import type { InputTotal } from '../usage/index.js';
import { type ComparedEvent, Examples } from './examples.js';

interface Sums {
  count: number;
  /** × 10^18, as is the amount. */
  quantity: bigint;
  amount: bigint;
  /** Costs in the same currency, whatever the currencies of the prices are. */
  cost: bigint;
}

interface Total extends Pick<BacktestTotal, 'metric' | 'unit' | 'currency'> {
  readonly before: Sums;
  readonly after: Sums;
}

/**
 * The differences between two ratings of the same events, event by event. Its size is bounded, regardless of
 * the events.
 */
export class RatingComparison {
  readonly #totals = new Map<string, Total>();
  readonly #newlyFailed = new Map<string, number>();
  readonly #newlySucceeded = new Map<string, number>();
  readonly #examples = new Examples();
  #eventCount = 0;
  #changedCount = 0;
  #hasOmittedTotals = false;
  #lastId: string | undefined;

  /** The id of the event that was added last. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  get eventCount(): number {
    return this.#eventCount;
  }

  add(event: ComparedEvent): void {
    const { before, after } = event;
    this.#eventCount += 1;
    this.#lastId = event.id;
    for (const item of before.items) this.#sum('before', item);
    for (const item of after.items) this.#sum('after', item);
    if (before.failure === null && after.failure !== null) increment(this.#newlyFailed, after.failure.code);
    if (before.failure !== null && after.failure === null) {
      increment(this.#newlySucceeded, before.failure.code);
    }
    if (!isChanged(event)) return;
    this.#changedCount += 1;
    this.#examples.add(event, differenceByCurrency(event));
  }

  /** Adds amounts that are charged now by no event that is compared. They are no charge items. */
  addCharged(totals: readonly InputTotal[]): void {
    for (const { metric, unit, currency, amount } of totals) {
      const total = this.#totalOf(
        { metric, unit: unit === '' ? null : unit },
        currency === '' ? null : currency,
      );
      if (total !== undefined) total.before.amount += storedOf(amount);
    }
  }

  /** Returns the result without the range of events that was read. */
  result(): Omit<BacktestResult, 'from' | 'to'> {
    const totals = [...this.#totals.values()].toSorted(byNames).map((total) => ({
      ...total,
      before: shownSums(total.before),
      after: shownSums(total.after),
    }));
    return {
      event_count: this.#eventCount,
      changed_count: this.#changedCount,
      newly_failed: counts(this.#newlyFailed),
      newly_succeeded: counts(this.#newlySucceeded),
      totals,
      examples: this.#examples.shown(),
      cut_by: this.#hasOmittedTotals ? ['totals'] : [],
    };
  }

  #sum(side: 'before' | 'after', item: UsageChargeItem): void {
    const { quantity, amount, cost } = item;
    const charged = this.#totalOf(item, item.currency)?.[side];
    if (charged !== undefined) {
      // An amount that a correction has left is no charge item.
      if (item.source !== 'correction') charged.count += 1;
      charged.quantity += storedOf(quantity);
      charged.amount += storedOf(amount);
    }
    if (cost === null) return;
    const costed = this.#totalOf(item, cost.currency)?.[side];
    if (costed !== undefined) costed.cost += storedOf(cost.amount);
  }

  /** Returns undefined for a total past the bound. */
  #totalOf(
    { metric, unit }: Pick<UsageChargeItem, 'metric' | 'unit'>,
    currency: string | null,
  ): Total | undefined {
    const key = JSON.stringify([metric, unit, currency]);
    const known = this.#totals.get(key);
    if (known !== undefined) return known;
    if (this.#totals.size >= BACKTEST_TOTALS_MAX) {
      this.#hasOmittedTotals = true;
      return undefined;
    }
    const total = { metric, unit, currency, before: noSums(), after: noSums() };
    this.#totals.set(key, total);
    return total;
  }
}

const noSums = (): Sums => ({ count: 0, quantity: 0n, amount: 0n, cost: 0n });

function shownSums({ count, ...sums }: Sums) {
  const text = (stored: bigint) => toText(fromStored(stored));
  const { quantity, amount, cost } = sums;
  return { item_count: count, quantity: text(quantity), amount: text(amount), cost: text(cost) };
}

/** A decimal of a charge item, which has no more digits than are stored. */
function storedOf(text: string): bigint {
  const decimal = parseDecimal(text);
  const stored = decimal === undefined ? undefined : toStored(decimal);
  if (stored === undefined) throw new RangeError(`${text} is not a decimal of a charge item`);
  return stored;
}

/** Whether the results differ. The rules of an item do not matter, only its amount and its cost. */
function isChanged({ before, after }: ComparedEvent): boolean {
  if (before.failure !== null || after.failure !== null) {
    return before.failure?.code !== after.failure?.code;
  }
  const [old, fresh] = [before.items, after.items].map((items) => items.map(chargeOf).toSorted());
  return JSON.stringify(old) !== JSON.stringify(fresh);
}

const chargeOf = ({ metric, unit, quantity, unit_price, amount, currency, cost }: UsageChargeItem): string =>
  JSON.stringify([metric, unit, quantity, unit_price, amount, currency, cost?.amount, cost?.currency]);

/** Returns the difference of the amounts after and before, for each currency that occurs in either; × 10^18. */
function differenceByCurrency({ before, after }: ComparedEvent): Map<string, bigint> {
  const differences = new Map<string, bigint>();
  const add = ({ currency, amount }: UsageChargeItem, sign: 1n | -1n): void => {
    if (currency === null) return;
    differences.set(currency, (differences.get(currency) ?? 0n) + sign * storedOf(amount));
  };
  for (const item of after.items) add(item, 1n);
  for (const item of before.items) add(item, -1n);
  return differences;
}

function increment(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}

/** Most frequent first. */
function counts(byCode: ReadonlyMap<string, number>): { code: string; count: number }[] {
  const entries = Array.from(byCode, ([code, count]) => ({ code, count }));
  return entries.toSorted((a, b) => b.count - a.count || compareText(a.code, b.code));
}

function byNames(a: Total, b: Total): number {
  return (
    compareText(a.metric, b.metric) ||
    compareText(a.unit ?? '', b.unit ?? '') ||
    compareText(a.currency ?? '', b.currency ?? '')
  );
}
