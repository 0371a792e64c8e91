import { UTC_CALENDAR, windowAt } from '../../kernel/period.js';
import type { CounterTotals } from './price.js';
import { type RatedEvent, type RatingRules, rateEvent } from './rate.js';
import { type CountedItem, totalAfter } from './rated-item.js';
import type { RatingInput } from './rating-input.js';

const NO_TOTALS: ReadonlyMap<string, bigint> = new Map();

/**
 * Rates one event without stored counters, and without a route: periods are those of the calendar in UTC.
 *
 * @param totals by counter, × 10^18; without one, the charge item is the first of its period
 */
export function rateAlone(
  rules: RatingRules,
  input: RatingInput,
  totals: ReadonlyMap<string, bigint> = NO_TOTALS,
): RatedEvent {
  const rated = rateEvent(rules, input);
  if (rated.ok !== undefined) return rated;
  const known = new Map(totals);
  return rated.price(rated.counted.map((item) => nextTotals(known, item, input.occurredAt)));
}

function nextTotals(known: Map<string, bigint>, item: CountedItem, occurredAt: number): CounterTotals {
  const { counter, value } = item;
  const before = known.get(counter.name);
  const after = totalAfter(counter, before, item, value !== undefined);
  known.set(counter.name, after);
  return { periodStart: windowAt(counter.period, UTC_CALENDAR, occurredAt).startS, before, after };
}
