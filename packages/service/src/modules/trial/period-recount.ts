import { BACKTEST_COUNTED_ITEMS_MAX } from '@tollgate/contract';
import { memoized } from '../../kernel/maps.js';
import { CounterPeriod, tooLarge } from '../counters/index.js';
import type { CountedItem, CounterTotals, RatingFailure } from '../rules/index.js';
import { inOrderOfRating, type RatedPlace } from './rating-order.js';

/** A charge item in a period of a counter. */
export interface ItemToRecount extends RatedPlace {
  readonly item: CountedItem;
  readonly period: CounterPeriod;
  /** Whether the event is compared, and its totals are wanted. */
  readonly isCompared: boolean;
}

/** The part of an item that a period keeps until it is counted. */
interface Entry extends RatedPlace, Pick<ItemToRecount, 'isCompared'> {
  readonly quantity: bigint;
  readonly value: string | undefined;
}

interface OpenPeriod {
  readonly period: CounterPeriod;
  readonly path: string;
  entries: Entry[];
}

/** The totals of the counted items of an event, in their order; undefined for an item without a counter. */
export type RecountedTotals = readonly (CounterTotals | RatingFailure | undefined)[];

/**
 * Counts the charge items of whole periods again, in the order in which they were rated, from an empty counter on. It
 * keeps a bounded number of charge items.
 */
export class PeriodRecount {
  readonly #itemsMax: number;
  readonly #periods = new Map<string, OpenPeriod>();
  readonly #totals = new Map<string, (CounterTotals | RatingFailure)[]>();
  #itemCount = 0;
  #fromS = Number.MAX_SAFE_INTEGER;
  #toS: number | undefined = 0;

  constructor(itemsMax = BACKTEST_COUNTED_ITEMS_MAX) {
    this.#itemsMax = itemsMax;
  }

  /** Start of the first period, and end of the last one; without an end for a lifetime. Unix seconds. */
  get span(): { readonly fromS: number; readonly toS: number | undefined } {
    return { fromS: this.#fromS, toS: this.#toS };
  }

  /** Adds an item; one that is not compared counts only in a period of compared ones. Returns false if it is full. */
  add({ period, item, ...added }: ItemToRecount): boolean {
    const key = `${period.key.toString('hex')} ${period.startS}`;
    if (!added.isCompared && !this.#periods.has(key)) return true;
    if (this.#itemCount >= this.#itemsMax) return false;
    this.#itemCount += 1;
    const open = memoized(this.#periods, key, () => this.#open(period, item.path));
    const { eventId, place, ratedAtMs, stored, isCompared } = added;
    const { quantity, value } = item;
    open.entries.push({ eventId, place, ratedAtMs, stored, isCompared, quantity, value });
    return true;
  }

  /** Counts all periods. Nothing can be added afterwards. */
  count(): void {
    for (const open of this.#periods.values()) this.#countPeriod(open);
    this.#periods.clear();
  }

  /** @param counters whether each counted item of the event has a counter; undefined if the event is not known */
  totalsOf(eventId: string, counters: readonly boolean[]): RecountedTotals | undefined {
    const totals = this.#totals.get(eventId) ?? [];
    const isKnown = counters.every((hasCounter, place) => !hasCounter || totals[place] !== undefined);
    return isKnown ? counters.map((_, place) => totals[place]) : undefined;
  }

  #open({ counter, key, startS, endS }: CounterPeriod, path: string): OpenPeriod {
    this.#fromS = Math.min(this.#fromS, startS);
    if (this.#toS !== undefined) this.#toS = endS === undefined ? undefined : Math.max(this.#toS, endS);
    return { period: new CounterPeriod(counter, key, startS, endS), path, entries: [] };
  }

  #countPeriod(open: OpenPeriod): void {
    const { period, path } = open;
    for (const entry of inOrderOfRating(open.entries)) {
      const counted = period.count(entry);
      if (!entry.isCompared) continue;
      const totals = memoized(this.#totals, entry.eventId, () => []);
      totals[entry.place] =
        counted === undefined ? tooLarge(period.counter.definition, path) : totalsOf(counted);
    }
    open.entries = [];
  }
}

/** Returns the totals alone: those of many items are kept. */
function totalsOf({ periodStart, before, after }: CounterTotals): CounterTotals {
  return { periodStart, before, after };
}
