import {
  BACKTEST_EXAMPLE_CURRENCIES_MAX,
  BACKTEST_EXAMPLE_ITEMS_MAX,
  BACKTEST_EXAMPLES_MAX,
  type BacktestExample,
} from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import { rawEventIdText } from '../../kernel/id.js';
import type { RatingOutcome } from './outcome.js';

/** One event, rated twice. */
export interface ComparedEvent {
  /** 32 hex digits. */
  readonly id: string;
  /** Unix seconds. */
  readonly occurredAt: number;
  readonly before: RatingOutcome;
  readonly after: RatingOutcome;
}

interface Candidate {
  readonly event: ComparedEvent;
  /** × 10^18. */
  readonly difference: bigint;
}

/** The group of events whose amounts do not differ; it comes after all currencies. */
const NO_CURRENCY = '';

/**
 * The events that differ most, by currency: amounts of two currencies cannot be compared. Among equal differences, and
 * among currencies above the bound, the earlier events are kept: these are always the same ones, because events arrive
 * in one order.
 */
export class Examples {
  /** The largest difference first. */
  readonly #byCurrency = new Map<string, Candidate[]>();

  /** @param differences by currency, × 10^18 */
  add(event: ComparedEvent, differences: ReadonlyMap<string, bigint>): void {
    let isInAmount = false;
    for (const [currency, difference] of differences) {
      if (difference === 0n) continue;
      isInAmount = true;
      this.#offer(currency, { event, difference });
    }
    if (!isInAmount) this.#offer(NO_CURRENCY, { event, difference: 0n });
  }

  shown(): BacktestExample[] {
    const currencies = [...this.#byCurrency.keys()].toSorted((a, b) => {
      if (a === NO_CURRENCY || b === NO_CURRENCY) return a === b ? 0 : a === NO_CURRENCY ? 1 : -1;
      return compareText(a, b);
    });
    return currencies.flatMap((currency) =>
      (this.#byCurrency.get(currency) ?? []).map((candidate) => shownExample(currency, candidate)),
    );
  }

  #offer(currency: string, candidate: Candidate): void {
    let kept = this.#byCurrency.get(currency);
    if (kept === undefined) {
      const currencyCount = this.#byCurrency.size - Number(this.#byCurrency.has(NO_CURRENCY));
      if (currency !== NO_CURRENCY && currencyCount >= BACKTEST_EXAMPLE_CURRENCIES_MAX) return;
      kept = [];
      this.#byCurrency.set(currency, kept);
    }
    const size = magnitude(candidate.difference);
    const last = kept.at(-1);
    const isFull = kept.length >= BACKTEST_EXAMPLES_MAX;
    if (isFull && last !== undefined && size <= magnitude(last.difference)) return;
    const place = kept.findIndex(({ difference }) => magnitude(difference) < size);
    kept.splice(place < 0 ? kept.length : place, 0, candidate);
    if (isFull) kept.pop();
  }
}

function magnitude(difference: bigint): bigint {
  return difference < 0n ? -difference : difference;
}

function shownExample(currency: string, { event, difference }: Candidate): BacktestExample {
  return {
    raw_event_id: rawEventIdText(event.id),
    occurred_at: event.occurredAt,
    currency: currency === NO_CURRENCY ? null : currency,
    amount_difference: toText(fromStored(difference)),
    before: shownSide(event.before),
    after: shownSide(event.after),
  };
}

function shownSide({ items, failure }: RatingOutcome): BacktestExample['before'] {
  return {
    charge_items: items.slice(0, BACKTEST_EXAMPLE_ITEMS_MAX),
    charge_item_count: items.length,
    failure,
  };
}
