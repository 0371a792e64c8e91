import { BACKTEST_COUNTED_ITEMS_MAX } from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { memoized } from '../../kernel/maps.js';
import { CounterPeriod, tooLarge } from '../counters/index.js';
import type { CountedItem, CounterTotals, RatingFailure } from '../rules/index.js';

/** The totals that a stored charge item records, and its amount before discounts. Decimals × 10^18. */
export interface StoredCount {
  readonly before: bigint;
  readonly after: bigint;
  readonly amount: bigint;
}

/** A charge item in a period of a counter. */
export interface ItemToRecount {
  readonly eventId: string;
  /** Its place among the counted items of the event. */
  readonly place: number;
  readonly item: CountedItem;
  readonly period: CounterPeriod;
  /** Undefined for an event that has failed: it is counted last, as it would be if it were rated again. */
  readonly ratedAtMs: number | undefined;
  /** Undefined where the stored event has no item in such a counter and period. */
  readonly stored: StoredCount | undefined;
  /** Whether the event is compared, and its totals are wanted. */
  readonly isCompared: boolean;
}

/** The part of an item that a period keeps until it is counted. */
interface Entry extends Pick<ItemToRecount, 'eventId' | 'place' | 'ratedAtMs' | 'stored' | 'isCompared'> {
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

/**
 * Sorts items by the totals that they record, where these follow one another without a gap: that is the order in which
 * they were rated, whatever the clocks of the workers showed. Otherwise, as after a correction or under another
 * definition of the counter, sorts them by the time of their rating. Failed events come last.
 */
function inOrderOfRating(entries: readonly Entry[]): readonly Entry[] {
  const failed = entries.filter(({ ratedAtMs }) => ratedAtMs === undefined).sort(byId);
  const rated = entries.filter(({ ratedAtMs }) => ratedAtMs !== undefined);
  const chain = rated.sort((a, b) => byTotals(a, b) || byId(a, b));
  return [...(isChain(chain) ? chain : chain.toSorted(byTime)), ...failed];
}

function isChain(entries: readonly Entry[]): boolean {
  return entries.every(
    ({ stored }, index) =>
      stored !== undefined && stored.before === (entries[index - 1]?.stored?.after ?? 0n),
  );
}

function byTime(a: Entry, b: Entry): number {
  return (a.ratedAtMs ?? 0) - (b.ratedAtMs ?? 0) || byTotals(a, b) || byId(a, b);
}

/** An item that was charged comes before one that was not, between the same totals: it has opened the period. */
function byTotals({ stored: a }: Entry, { stored: b }: Entry): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return (
    Number(a.after - b.after > 0n) - Number(a.after - b.after < 0n) ||
    Number(a.before - b.before > 0n) - Number(a.before - b.before < 0n) ||
    Number(a.amount === 0n) - Number(b.amount === 0n)
  );
}

function byId(a: Entry, b: Entry): number {
  return compareText(a.eventId, b.eventId) || a.place - b.place;
}
