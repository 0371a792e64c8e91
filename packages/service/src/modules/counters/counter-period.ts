import { COUNTER_VALUES_MAX } from '@tollgate/contract';
import { fromStored, toStored, toText } from '../../kernel/decimal.js';
import { type CountedItem, type CounterTotals, totalAfter } from '../rules/index.js';
import type { Counter } from './counter.js';

/** The rule of the charge item that was counted last. */
export interface LastRule {
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

/** The content of a period that charge items change. Decimals × 10^18. */
export interface PeriodState extends LastRule {
  /** The total; meaningless before the first charge item. */
  readonly quantity: bigint;
  /** Amounts before discounts. */
  readonly amount: bigint;
  readonly itemCount: number;
}

const EMPTY: PeriodState = { quantity: 0n, amount: 0n, itemCount: 0, ruleSetVersion: 0, ruleName: '' };

/** One period of a counter, as a transaction sees and changes it. */
export class CounterPeriod {
  /** How many charge items had a value, for the values that the transaction asked for. */
  readonly values = new Map<string, number>();
  readonly changedValues = new Set<string>();
  isChanged = false;
  readonly isStored: boolean;
  #state: PeriodState;

  /**
   * @param startS Unix seconds
   * @param endS exclusive; undefined for a lifetime
   * @param valueCount how many distinct values the stored period has
   */
  constructor(
    readonly counter: Counter,
    readonly key: Buffer,
    readonly startS: number,
    readonly endS: number | undefined,
    stored?: PeriodState,
    public valueCount = 0,
  ) {
    this.isStored = stored !== undefined;
    this.#state = stored ?? EMPTY;
  }

  get state(): PeriodState {
    return this.#state;
  }

  contains(atS: number): boolean {
    return atS >= this.startS && (this.endS === undefined || atS < this.endS);
  }

  /**
   * Counts a charge item and returns the totals around it; undefined if a bound is met, and nothing was counted. The
   * returned function takes it back.
   */
  count(item: CountedItem): { readonly totals: CounterTotals; readonly undo: () => void } | undefined {
    const former = this.#state;
    const before = former.itemCount === 0 ? undefined : former.quantity;
    const value = countedValue(this.counter, item);
    const isNew = value !== undefined && !this.values.has(value);
    const after = totalAfter(this.counter.definition, before, item, isNew);
    if (toStored(fromStored(after)) === undefined) return undefined;
    if (isNew && this.valueCount >= COUNTER_VALUES_MAX) return undefined;
    this.#state = { ...former, quantity: after, itemCount: former.itemCount + 1 };
    if (value !== undefined) this.#addValue(value, 1);
    this.isChanged = true;
    const undo = () => {
      this.#state = former;
      if (value !== undefined) this.#addValue(value, -1);
    };
    return { totals: { periodStart: this.startS, before, after }, undo };
  }

  /** Adds the amount of a counted charge item. */
  charge(amount: bigint, { ruleSetVersion, ruleName }: LastRule): void {
    this.#state = { ...this.#state, amount: this.#state.amount + amount, ruleSetVersion, ruleName };
  }

  #addValue(value: string, change: number): void {
    const count = (this.values.get(value) ?? 0) + change;
    if (count === 0) {
      this.values.delete(value);
      this.valueCount -= 1;
    } else {
      if (!this.values.has(value)) this.valueCount += 1;
      this.values.set(value, count);
    }
    this.changedValues.add(value);
  }
}

/**
 * Returns the value of a charge item that its counter keeps: a dimension value, or a quantity whose greatest is wanted.
 * Undefined where nothing is kept.
 */
export function countedValue({ definition }: Counter, { value, quantity }: CountedItem): string | undefined {
  if (definition.aggregate === 'unique') return value;
  return definition.aggregate === 'max' ? toText(fromStored(quantity)) : undefined;
}
