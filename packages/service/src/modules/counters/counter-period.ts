import { COUNTER_VALUES_MAX } from '@tollgate/contract';
import { fromStored, isStorable, ONE_STORED, toText } from '../../kernel/decimal.js';
import { amountFromText } from '../ledger/index.js';
import { amountBetween, type CounterTotals, LastPrice, RatingFailure, totalAfter } from '../rules/index.js';
import { type CountableItem, type Counter, countedValue, MissingItemError, tooLarge } from './counter.js';

/** The rule of the charge item that was counted last. */
export interface LastRule {
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

/** Returns the price of a total. */
export type PriceOfTotal = (total: bigint) => bigint | RatingFailure;

/** A charge item that was counted: the totals around it, and what else the period was before. */
export interface CountedCharge extends CounterTotals {
  readonly period: CounterPeriod;
  readonly value: string | undefined;
  readonly formerAmount: bigint;
  readonly formerVersion: number;
  readonly formerName: string;
}

/** A charge item that was put in. */
export interface PutIn {
  readonly totals: CounterTotals;
  readonly amount: bigint;
}

/** The content of a period that charge items change. Decimals × 10^18. */
export interface PeriodState extends LastRule {
  /** The total; meaningless before the first charge item. */
  readonly quantity: bigint;
  /** Amounts before discounts. */
  readonly amount: bigint;
  readonly itemCount: number;
}

const NO_VALUES: ReadonlySet<string> = new Set();
const EMPTY: PeriodState = { quantity: 0n, amount: 0n, itemCount: 0, ruleSetVersion: 0, ruleName: '' };

/** One period of a counter, as a transaction sees and changes it. */
export class CounterPeriod {
  /** Whether charge items were counted since it was written, even if that was taken back. */
  isChanged = false;
  /** Whether its rule or its number of values was changed since it was written, even if that was taken back. */
  isDescribedAnew = false;
  #quantity: bigint;
  #amount: bigint;
  #itemCount: number;
  #ruleSetVersion: number;
  #ruleName: string;
  /** Undefined as long as there are none: most counters keep no values. */
  #values: Map<string, number> | undefined;
  #changedValues: Set<string> | undefined;
  /** The values of a maximum that may be kept, once the greatest one is wanted. */
  #ascending: bigint[] | undefined;
  readonly #last: LastPrice | undefined;

  /**
   * @param startS Unix seconds
   * @param endS exclusive; undefined for a lifetime
   * @param valueCount how many distinct values the stored period has
   * @param totalsId 32 hex digits that identify the row of its totals; undefined as long as it is not stored
   */
  constructor(
    readonly counter: Counter,
    readonly key: Buffer,
    readonly startS: number,
    readonly endS: number | undefined,
    stored?: PeriodState,
    public valueCount = 0,
    public totalsId?: string,
  ) {
    this.#last = counter.definition.by.length === 0 ? new LastPrice() : undefined;
    const { quantity, amount, itemCount, ruleSetVersion, ruleName } = stored ?? EMPTY;
    this.#quantity = quantity;
    this.#amount = amount;
    this.#itemCount = itemCount;
    this.#ruleSetVersion = ruleSetVersion;
    this.#ruleName = ruleName;
  }

  get isStored(): boolean {
    return this.totalsId !== undefined;
  }

  /** A copy of the content. */
  get state(): PeriodState {
    return {
      quantity: this.#quantity,
      amount: this.#amount,
      itemCount: this.#itemCount,
      ruleSetVersion: this.#ruleSetVersion,
      ruleName: this.#ruleName,
    };
  }

  /** How many charge items had a value, for the values that the transaction asked for. */
  get values(): Map<string, number> {
    this.#values ??= new Map();
    return this.#values;
  }

  /** The changed ones of these values. */
  get changedValues(): ReadonlySet<string> {
    return this.#changedValues ?? NO_VALUES;
  }

  get quantity(): bigint {
    return this.#quantity;
  }

  get amount(): bigint {
    return this.#amount;
  }

  get ruleSetVersion(): number {
    return this.#ruleSetVersion;
  }

  get ruleName(): string {
    return this.#ruleName;
  }

  get itemCount(): number {
    return this.#itemCount;
  }

  contains(atS: number): boolean {
    return atS >= this.startS && (this.endS === undefined || atS < this.endS);
  }

  /** Counts a charge item and returns the totals around it; undefined if a bound is met, and nothing was counted. */
  count(item: CountableItem): CountedCharge | undefined {
    const before = this.#itemCount === 0 ? undefined : this.#quantity;
    const value = countedValue(this.counter, item);
    const isNew = value !== undefined && !this.values.has(value);
    const after = totalAfter(this.counter.definition, before, item, isNew);
    if (!isStorable(after)) return undefined;
    if (isNew && this.valueCount >= COUNTER_VALUES_MAX) return undefined;
    this.#quantity = after;
    this.#itemCount += 1;
    if (value !== undefined) this.#addValue(value, 1);
    return {
      periodStart: this.startS,
      before,
      after,
      last: this.#last,
      period: this,
      value,
      formerAmount: this.#amount,
      formerVersion: this.#ruleSetVersion,
      formerName: this.#ruleName,
    };
  }

  /** Takes back the charge item that was counted last. */
  undo({ before = 0n, value, formerAmount, formerVersion, formerName }: CountedCharge): void {
    this.#quantity = before;
    this.#amount = formerAmount;
    this.#itemCount -= 1;
    this.#ruleSetVersion = formerVersion;
    this.#ruleName = formerName;
    if (value !== undefined) this.#addValue(value, -1);
  }

  /**
   * Takes a charge item out. It gives back the price of the total before, less the price of the total after; the last
   * one gives back what is left of the amount. Returns what it gives back.
   *
   * @param amount what was charged for it: that is given back if a price cannot be computed
   */
  takeOut(item: CountableItem, amount: bigint, price: PriceOfTotal): bigint {
    const before = this.#quantity;
    this.remove(item);
    const given = this.#itemCount === 0 ? this.#amount : this.#givenBack(before, amount, price);
    this.#amount -= given;
    return given;
  }

  /** Puts a charge item in. Returns its totals and its amount; nothing is changed if it cannot be priced. */
  putIn(item: CountableItem, rule: LastRule, price: PriceOfTotal): PutIn | RatingFailure {
    const counted = this.count(item);
    if (counted === undefined) return tooLarge(this.counter.definition, '');
    const amount = amountBetween(counted, price);
    if (amount instanceof RatingFailure) this.undo(counted);
    else this.charge(amount, rule);
    return amount instanceof RatingFailure ? amount : { totals: counted, amount };
  }

  /**
   * Takes a charge item out of the total alone.
   *
   * @throws MissingItemError if the period does not have it
   */
  remove(item: CountableItem): void {
    const itemCount = this.#itemCount;
    const value = countedValue(this.counter, item);
    if (itemCount < 1 || (value !== undefined && !this.values.has(value))) {
      throw new MissingItemError(
        `the period of ${this.counter.definition.name} does not have the charge item`,
      );
    }
    if (value !== undefined) this.#addValue(value, -1);
    const isGone = value !== undefined && !this.values.has(value);
    this.#itemCount = itemCount - 1;
    this.#quantity = itemCount === 1 ? 0n : this.#totalWithout(this.#quantity, item, isGone);
  }

  #totalWithout(quantity: bigint, item: CountableItem, isGone: boolean): bigint {
    switch (this.counter.definition.aggregate) {
      case 'sum':
        return quantity - item.quantity;
      case 'count':
        return quantity - ONE_STORED;
      case 'unique':
        return isGone ? quantity - ONE_STORED : quantity;
      case 'max':
        return isGone && item.quantity === quantity ? this.#greatest() : quantity;
    }
  }

  /** Returns the greatest value that is kept. */
  #greatest(): bigint {
    this.#ascending ??= Array.from(this.values.keys(), amountFromText).sort(ascending);
    for (;;) {
      const last = this.#ascending.at(-1);
      if (last === undefined)
        throw new Error(`the greatest value of ${this.counter.definition.name} was not read`);
      if (this.values.has(toText(fromStored(last)))) return last;
      this.#ascending.pop();
    }
  }

  #givenBack(before: bigint, amount: bigint, price: PriceOfTotal): bigint {
    const former = price(before);
    if (former instanceof RatingFailure) return amount;
    const next = price(this.#quantity);
    return next instanceof RatingFailure ? amount : former - next;
  }

  /** Adds the amount of a counted charge item. */
  charge(amount: bigint, { ruleSetVersion, ruleName }: LastRule): void {
    this.#amount += amount;
    if (this.#ruleSetVersion === ruleSetVersion && this.#ruleName === ruleName) return;
    this.isDescribedAnew = true;
    this.#ruleSetVersion = ruleSetVersion;
    this.#ruleName = ruleName;
  }

  /** Adds to the amount, without a charge item. */
  addAmount(amount: bigint): void {
    this.#amount += amount;
  }

  /** Returns a copy that changes by itself. */
  copy(): CounterPeriod {
    const { counter, key, startS, endS, state, valueCount, totalsId } = this;
    const copied = new CounterPeriod(counter, key, startS, endS, state, valueCount, totalsId);
    if (this.#values !== undefined)
      for (const [value, count] of this.#values) copied.values.set(value, count);
    return copied;
  }

  #addValue(value: string, change: number): void {
    const count = (this.values.get(value) ?? 0) + change;
    if (count === 0) {
      this.values.delete(value);
      this.valueCount -= 1;
      this.isDescribedAnew = true;
    } else {
      if (!this.values.has(value)) {
        this.valueCount += 1;
        this.isDescribedAnew = true;
        this.#ascending = undefined;
      }
      this.values.set(value, count);
    }
    this.#changedValues ??= new Set();
    this.#changedValues.add(value);
  }

  /** Called when the period was written. Values are forgotten: a period can have many, and each was asked for. */
  written(): void {
    this.isChanged = false;
    this.isDescribedAnew = false;
    this.#values = undefined;
    this.#changedValues = undefined;
    this.#ascending = undefined;
  }
}

function ascending(a: bigint, b: bigint): number {
  return Number(a - b > 0n) - Number(a - b < 0n);
}
