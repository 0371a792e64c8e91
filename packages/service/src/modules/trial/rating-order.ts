import { compareText } from '../../kernel/compare-text.js';
import { type CountedItem, totalsOfItem } from '../rules/index.js';

/** The totals that a stored charge item records, and its amount before discounts. Decimals × 10^18. */
export interface StoredCount {
  readonly before: bigint;
  readonly after: bigint;
  readonly amount: bigint;
}

/** A counted item of an event that was rated before. */
export interface RatedPlace {
  readonly eventId: string;
  /** Its place among the counted items of the event. */
  readonly place: number;
  /** Undefined for an event that has failed: it is counted last, as it would be if it were rated again. */
  readonly ratedAtMs: number | undefined;
  /** Undefined where the stored event has no item in such a counter and period. */
  readonly stored: StoredCount | undefined;
}

/** The fields of a stored charge item that say what it has counted. Decimals × 10^18. */
export interface StoredItem {
  readonly cumulative: string;
  readonly source: string;
  readonly quantity: bigint;
  readonly amount: bigint;
  readonly discount: bigint;
}

/** Returns a function that finds the totals of the stored item in a period; it takes each stored item once. */
export function storedCountsOf(items: readonly StoredItem[]) {
  const used = new Set<StoredItem>();
  return (
    { counter, quantity }: Pick<CountedItem, 'counter' | 'quantity'>,
    startS: number,
  ): StoredCount | undefined => {
    for (const item of items) {
      if (item.cumulative === '' || item.source === 'correction' || used.has(item)) continue;
      const { counter: name, periodStart, before, after } = totalsOfItem(item.cumulative);
      if (name !== counter.name || periodStart !== startS || item.quantity !== quantity) continue;
      used.add(item);
      return { before, after, amount: item.amount + item.discount };
    }
    return undefined;
  };
}

/**
 * Sorts the items of a period by the totals that they record, where these follow one another without a gap: that is the
 * order in which they were rated, whatever the clocks of the workers showed. Otherwise, as after a correction or under
 * another definition of the counter, sorts them by the time of their rating. Failed events come last.
 */
export function inOrderOfRating<T extends RatedPlace>(items: readonly T[]): readonly T[] {
  const failed = items.filter(({ ratedAtMs }) => ratedAtMs === undefined).sort(byId);
  const rated = items.filter(({ ratedAtMs }) => ratedAtMs !== undefined);
  const chain = rated.sort((a, b) => byTotals(a, b) || byId(a, b));
  return [...(isChain(chain) ? chain : chain.toSorted(byTime)), ...failed];
}

function isChain(items: readonly RatedPlace[]): boolean {
  return items.every(
    ({ stored }, index) => stored !== undefined && stored.before === (items[index - 1]?.stored?.after ?? 0n),
  );
}

function byTime(a: RatedPlace, b: RatedPlace): number {
  return (a.ratedAtMs ?? 0) - (b.ratedAtMs ?? 0) || byTotals(a, b) || byId(a, b);
}

/** An item that was charged comes before one that was not, between the same totals: it has opened the period. */
function byTotals({ stored: a }: RatedPlace, { stored: b }: RatedPlace): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return (
    Number(a.after - b.after > 0n) - Number(a.after - b.after < 0n) ||
    Number(a.before - b.before > 0n) - Number(a.before - b.before < 0n) ||
    Number(a.amount === 0n) - Number(b.amount === 0n)
  );
}

function byId(a: RatedPlace, b: RatedPlace): number {
  return compareText(a.eventId, b.eventId) || a.place - b.place;
}
