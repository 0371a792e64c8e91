import type { CumulativeTotals } from '@tollgate/contract';
import { fromStored, ONE_STORED, parseDecimal, toStored, toText } from '../../kernel/decimal.js';
import { present } from '../../kernel/present.js';
import type { ItemCost } from './cost.js';
import { type CounterDefinition, RatingFailure } from './extract/index.js';
import {
  type CounterTotals,
  type ItemEnv,
  type ItemRules,
  type PendingPrice,
  type Price,
  priceBetween,
  UNPRICED,
} from './price.js';

/** Money and quantities are integers: their value × 10^18. The amount is charged, after the discount. */
export interface ChargeItem extends Price {
  /** Name of the extractor that read the quantity; empty for `x_billing`. */
  readonly extractorName: string;
  readonly metric: string;
  readonly unit: string;
  readonly quantity: bigint;
  /** The part of the amount that a discount hint subtracted; not negative. */
  readonly discount: bigint;
  /** `correction`: a remainder of an amount, which a correction has left. Its quantity is 0, and it is not counted. */
  readonly source: 'extractor' | 'x_billing' | 'correction';
  /** JSON text of the `CumulativeTotals` that set the amount; empty for a price of the charge item alone. */
  readonly cumulative: string;
  /** Null when no cost rule matched, or the one that did could not be computed. */
  readonly cost: ItemCost | null;
}

/** A charge item whose price depends on the total of a counter. */
export interface CountedItem {
  readonly counter: CounterDefinition;
  /** Whether an extractor or a pricing rule set has the counter. In a rules test neither has an id. */
  readonly pricingSource: Price['pricingSource'];
  readonly ruleSetId: string;
  /** × 10^18. */
  readonly quantity: bigint;
  /** The values of the counter's dimensions `by`, in their order; null for an absent one. */
  readonly by: readonly (string | null)[];
  /** The value of the dimension `of`; undefined if the event lacks it, or the counter has none. */
  readonly value: string | undefined;
  /** The entry of the rule set with the price of the total. */
  readonly path: string;
}

/** The part of a charge item that is known without its price. */
type ReadItem = Pick<ChargeItem, 'extractorName' | 'metric' | 'unit' | 'quantity' | 'source'>;

/** A charge item whose amount is not known yet. */
export interface PendingItem {
  readonly read: ReadItem;
  readonly price: PendingPrice;
  /** Where the price stands. */
  readonly path: string;
  /** The variables of its expression. */
  readonly env: ItemEnv;
}

const NO_VALUES: CountedItem['by'] = [];

/** @param dimensions of the event, as they are recorded */
export function countedItem(
  { read: { quantity }, price: { total, pricingSource, ruleSetId } }: PendingItem,
  dimensions: ReadonlyMap<string, string>,
): CountedItem {
  const { counter, price } = total;
  // Most counters have no dimensions, and their charge items share one list.
  const by = counter.by.length === 0 ? NO_VALUES : counter.by.map((name) => dimensions.get(name) ?? null);
  const value = counter.of === undefined ? undefined : dimensions.get(counter.of);
  return { counter, pricingSource, ruleSetId, quantity, by, value, path: price.path };
}

/**
 * Returns the total of a counter after a charge item. × 10^18.
 *
 * @param before the total before it; undefined for the first charge item of the period
 * @param isNewValue whether the counter counts distinct values, and has not seen that of the item
 */
export function totalAfter(
  { aggregate }: CounterDefinition,
  before: bigint | undefined,
  { quantity }: Pick<CountedItem, 'quantity'>,
  isNewValue: boolean,
): bigint {
  switch (aggregate) {
    case 'sum':
      return (before ?? 0n) + quantity;
    case 'count':
      return (before ?? 0n) + ONE_STORED;
    case 'max':
      return before === undefined || quantity > before ? quantity : before;
    case 'unique':
      return (before ?? 0n) + (isNewValue ? ONE_STORED : 0n);
  }
}

/**
 * Returns a charge item with its amount.
 *
 * @param totals undefined without a counter: then the item has no price
 */
export function pricedItem(
  { read, price, path, env }: PendingItem,
  totals: CounterTotals | undefined,
  failsUnpriced: boolean,
): ChargeItem | RatingFailure {
  if (totals === undefined) {
    return failsUnpriced
      ? unpricedFailure({ metric: read.metric, path })
      : chargeItem(read, UNPRICED, UNPRICED.amount, '');
  }
  const amount = priceBetween(price, totals, env);
  if (amount instanceof RatingFailure) return amount;
  return chargeItem(read, price, amount, cumulativeText(price.total.counter.name, totals));
}

/** Returns a complete charge item. It names each field: spreading objects would double the cost of rating an event. */
export function chargeItem(
  { extractorName, metric, unit, quantity, source }: ReadItem,
  { unitPrice, currency, pricingSource, ruleSetId, ruleSetVersion, ruleName }: Omit<Price, 'amount'>,
  amount: bigint,
  cumulative: string,
): ChargeItem {
  return {
    extractorName,
    metric,
    unit,
    quantity,
    unitPrice,
    amount,
    discount: 0n,
    currency,
    source,
    pricingSource,
    ruleSetId,
    ruleSetVersion,
    ruleName,
    cumulative,
    cost: null,
  };
}

/**
 * Completes the pending items of an event, each by its known value.
 *
 * @throws Error if there are not as many values as pending items
 */
export function completed<Known>(
  items: readonly (ChargeItem | PendingItem)[],
  known: readonly Known[],
  complete: (item: PendingItem, known: Known) => ChargeItem | RatingFailure,
): ChargeItem[] | RatingFailure {
  const all: ChargeItem[] = [];
  let next = 0;
  for (const item of items) {
    const found = 'read' in item ? complete(item, known[next++] as Known) : item;
    if (found instanceof RatingFailure) return found;
    all.push(found);
  }
  if (next !== known.length) throw new Error(`${next} counted items have ${known.length} totals`);
  return all;
}

/** Returns a charge item as it is before its totals are known: with an amount of 0. */
export function draftItem({ read, price }: PendingItem): ChargeItem {
  const totals = { periodStart: 0, before: undefined, after: 0n };
  return chargeItem(read, price, 0n, cumulativeText(price.total.counter.name, totals));
}

/** Returns the totals of a charge item as they are recorded. */
export function cumulativeText(counter: string, { periodStart, before = 0n, after }: CounterTotals): string {
  const [from, to] = [toText(fromStored(before)), toText(fromStored(after))];
  // Names of counters need no escapes (`COUNTER_NAME_PATTERN`).
  return `{"counter":"${counter}","period_start":${periodStart},"before":"${from}","after":"${to}"}`;
}

/** The totals that a charge item records. Decimals × 10^18. */
export interface RecordedTotals {
  readonly counter: string;
  /** Unix seconds. */
  readonly periodStart: number;
  readonly before: bigint;
  readonly after: bigint;
}

/** Parses what `cumulativeText` has written. @throws Error for other text */
export function totalsOfItem(text: string): RecordedTotals {
  const { counter, period_start: periodStart, before, after } = JSON.parse(text) as CumulativeTotals;
  return { counter, periodStart, before: storedTotal(before), after: storedTotal(after) };
}

function storedTotal(text: string): bigint {
  const decimal = present(parseDecimal(text), `a total in place of ${text}`);
  return present(toStored(decimal), `a total in place of ${text}`);
}

export function unpricedFailure({ metric, path }: Pick<ItemRules, 'metric' | 'path'>): RatingFailure {
  return new RatingFailure('unpriced', `No price rule matched the metric ${metric}.`, path);
}
