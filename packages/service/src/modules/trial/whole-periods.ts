import { BACKTEST_COUNTED_ITEMS_MAX, BACKTEST_EVENTS_MAX } from '@tollgate/contract';
import type { CounterPeriod } from '../counters/index.js';
import { type CounterTotals, type RatedEvent, RatingFailure } from '../rules/index.js';
import { nestedValue, type ReplayInput, type StoredInput, storedCoefficient } from '../usage/index.js';
import { outcomeOf, type RatingOutcome } from './outcome.js';
import { PeriodRecount, type RecountedTotals } from './period-recount.js';
import { type StoredItem, storedCountsOf } from './rating-order.js';
import type { FindPeriods, TrialCounting } from './trial-counters.js';

/** Stored events between two times, in pages; ends early at a bound. */
export type ReadPages = (fromS: number, toS: number) => AsyncIterable<readonly ReplayInput[]>;

export interface WholePeriodsDeps {
  /** Reads all events, whether or not they belong to the sample. */
  readonly readPages: ReadPages;
  /** Whether a bound has ended the reading. */
  readonly isCut: () => boolean;
  /** Rates an event; undefined for one without counters. */
  readonly rate: (event: StoredInput) => Promise<TrialCounting['counting'] | undefined>;
  readonly findPeriods: FindPeriods;
}

/** A part of a period would give another price. */
const NOT_WHOLE: RatingOutcome = {
  items: [],
  failure: {
    code: 'price_by_total',
    message:
      `The periods of the counters hold more than a backtest reads: ${BACKTEST_EVENTS_MAX} events, ` +
      `${BACKTEST_COUNTED_ITEMS_MAX} charge items with such prices, or its time. Choose a shorter time range.`,
    path: null,
  },
};

/** The last second that the history can hold. */
const LAST_S = 0xffff_ffff;

/**
 * Prices by the totals of counters in a backtest. With the first event that needs one, the whole periods that the time
 * range touches are read and counted, also where they reach out of it.
 */
export class WholePeriods {
  readonly #deps: WholePeriodsDeps;
  readonly #range: { readonly from: number; readonly to: number };
  #recounted: Promise<PeriodRecount | undefined> | undefined;

  constructor(deps: WholePeriodsDeps, range: { readonly from: number; readonly to: number }) {
    this.#deps = deps;
    this.#range = range;
  }

  /** Ends the rating of events, in their order; undefined for one that came after the periods were read. */
  async price(events: readonly TrialCounting[]): Promise<(RatingOutcome | undefined)[]> {
    if (events.length === 0) return [];
    this.#recounted ??= this.#recount();
    const recount = await this.#recounted;
    if (recount === undefined) return events.map(() => NOT_WHOLE);
    const periods = await this.#deps.findPeriods(events);
    return events.map(({ event, counting }, index) => {
      const inCounters = (periods[index] ?? []).map((period) => period !== undefined);
      const totals = recount.totalsOf(event.id, inCounters);
      if (totals === undefined) return undefined;
      return outcomeOf(priceBy(counting, totals));
    });
  }

  /** Returns undefined if not all could be read. */
  async #recount(): Promise<PeriodRecount | undefined> {
    const { from, to } = this.#range;
    const recount = new PeriodRecount();
    if (!(await this.#add(recount, from, to, true))) return undefined;
    const { fromS, toS = LAST_S } = recount.span;
    if (!(await this.#add(recount, Math.max(0, fromS), from, false))) return undefined;
    if (!(await this.#add(recount, to, Math.min(toS, LAST_S), false))) return undefined;
    recount.count();
    return recount;
  }

  /** Adds the items of all events between two times. Returns false if not all could be read. */
  async #add(recount: PeriodRecount, fromS: number, toS: number, isCompared: boolean): Promise<boolean> {
    if (fromS >= toS) return true;
    const { readPages, isCut, rate, findPeriods } = this.#deps;
    for await (const page of readPages(fromS, toS)) {
      const counting: (TrialCounting & { readonly event: ReplayInput })[] = [];
      for (const event of page) {
        const found = await rate(event);
        if (found !== undefined) counting.push({ event, counting: found });
      }
      if (counting.length === 0) continue;
      const periods = await findPeriods(counting);
      for (const [index, each] of counting.entries())
        if (!addEvent(recount, each, periods[index] ?? [], isCompared)) return false;
    }
    return !isCut();
  }
}

function addEvent(
  recount: PeriodRecount,
  { event, counting }: TrialCounting & { readonly event: ReplayInput },
  periods: readonly (CounterPeriod | undefined)[],
  isCompared: boolean,
): boolean {
  const ratedAtMs = event.status === 'failed' ? undefined : event.processed_at_ms;
  const storedCount = storedCountsOf(storedItems(event));
  return counting.counted.every((item, place) => {
    const period = periods[place];
    if (period === undefined) return true;
    const stored = storedCount(item, period.startS);
    return recount.add({ eventId: event.id, place, item, period, ratedAtMs, stored, isCompared });
  });
}

function storedItems(event: StoredInput): StoredItem[] {
  const decimal = (texts: readonly string[], index: number) => storedCoefficient(nestedValue(texts, index));
  return event.item_cumulative.map((cumulative, index) => ({
    cumulative,
    source: nestedValue(event.item_source, index),
    quantity: decimal(event.item_quantity, index),
    amount: decimal(event.item_amount, index),
    discount: decimal(event.item_discount, index),
  }));
}

function priceBy(counting: TrialCounting['counting'], totals: RecountedTotals): RatedEvent {
  const known: (CounterTotals | undefined)[] = [];
  for (const each of totals) {
    if (each instanceof RatingFailure) {
      const { subject, dimensions } = counting;
      return { ok: false, failure: each, subject, dimensions };
    }
    known.push(each);
  }
  return counting.price(known);
}
