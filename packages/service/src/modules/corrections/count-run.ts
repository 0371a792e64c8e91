import type { ProjectDb } from '../../platform/postgres/index.js';
import { type CountableItem, type CounterPeriod, countedValue, keepsValues } from '../counters/index.js';
import { RatingFailure, type TotalPrice, type TotalPrices } from '../rules/index.js';
import type { ChangedPeriod, Count, CountSide } from './count.js';
import { type CountResult, pageOfCounts } from './counts-store.js';

/** A revert takes out what was put in, and puts in what was taken out. */
export type CountVerb = 'apply' | 'revert';

export interface CountRun {
  readonly db: ProjectDb;
  readonly correctionId: string;
  readonly prices: TotalPrices;
  readonly verb: CountVerb;
}

/** Upper bound of the counts that are read at once. */
const PAGE_COUNTS_MAX = 5_000;
/** In which order a side is counted: a revert takes out last what was put in first. */
const SIDES = {
  apply: { taken: 'out', put: 'in', isBackwards: false },
  revert: { taken: 'in', put: 'out', isBackwards: true },
} as const satisfies Record<CountVerb, { taken: CountSide; put: CountSide; isBackwards: boolean }>;

/** Returns the side whose items are taken out, and the side whose items are put in. */
export function sidesOf(verb: CountVerb): { readonly taken: CountSide; readonly put: CountSide } {
  return SIDES[verb];
}

/**
 * Takes all items of a correction out of a period, and then puts the others in, whatever their parts. Bounded memory:
 * results are handed over page by page.
 *
 * In a revert, an item that its former rule cannot price any more costs what it has cost.
 *
 * @param period is changed
 * @returns why an item cannot be put in; then the period is in no defined state
 */
export async function runCounts(
  run: CountRun,
  changed: ChangedPeriod,
  period: CounterPeriod,
  onPage: (results: CountResult[]) => Promise<void> | void,
): Promise<RatingFailure | undefined> {
  const { prices, verb } = run;
  const { taken, put } = SIDES[verb];
  const { by } = changed.counter;
  for await (const page of pagesOf(run, changed, taken)) {
    const results: CountResult[] = [];
    for (const count of page) {
      const price = await prices.of(count.rule);
      const given = period.takeOut(count, count.amount, (total) => price.at(total, by));
      results.push({ ...count, given });
    }
    await onPage(results);
  }
  for await (const page of pagesOf(run, changed, put)) {
    const results: CountResult[] = [];
    for (const count of page) {
      const found = putIn(period, count, await prices.of(count.rule), run, by);
      if (found instanceof RatingFailure) return found;
      results.push(found);
    }
    await onPage(results);
  }
  return undefined;
}

function putIn(
  period: CounterPeriod,
  count: Count,
  price: TotalPrice,
  { verb }: CountRun,
  by: readonly (string | null)[],
): CountResult | RatingFailure {
  const found = period.putIn(count, count.rule, (total) => price.at(total, by));
  if (!(found instanceof RatingFailure)) {
    const { totals, amount } = found;
    return { ...count, amount, before: totals.before ?? 0n, after: totals.after };
  }
  if (verb === 'apply') return found;
  const counted = period.count(count);
  if (counted === undefined) return found;
  period.charge(count.amount, count.rule);
  return { ...count, before: counted.before ?? 0n, after: counted.after };
}

/**
 * Returns an item for each value that a period must know before it is counted; none where it keeps none. A correction
 * can have millions of items, and few values.
 */
export async function itemsWithValues(run: CountRun, changed: ChangedPeriod): Promise<CountableItem[]> {
  if (!keepsValues(changed.counter.definition)) return [];
  const items = new Map<string, CountableItem>();
  for (const side of ['out', 'in'] as const) {
    for await (const page of pagesOf(run, changed, side)) {
      for (const { quantity, value } of page) {
        const kept = countedValue(changed.counter, { quantity, value });
        if (kept !== undefined) items.set(kept, { quantity, value });
      }
    }
  }
  return [...items.values()];
}

/** Goes through the counts of a side in the order of the run. */
export async function* pagesOf(
  { db, correctionId, verb }: Pick<CountRun, 'db' | 'correctionId' | 'verb'>,
  changed: ChangedPeriod,
  side: CountSide,
): AsyncGenerator<Count[]> {
  const { isBackwards } = SIDES[verb];
  let after: number | undefined;
  for (;;) {
    const page = { side, isBackwards, after, max: PAGE_COUNTS_MAX };
    const counts = await pageOfCounts(db, correctionId, changed, page);
    after = counts.at(-1)?.position;
    if (counts.length > 0) yield counts;
    if (counts.length < PAGE_COUNTS_MAX) return;
  }
}
