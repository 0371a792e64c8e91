import { UTC_CALENDAR, windowAt } from '../../kernel/period.js';
import type { CounterTotals } from './price.js';
import { type RatedEvent, type RatingRules, rateEvent } from './rate.js';
import { type CountedItem, totalAfter } from './rated-item.js';
import type { RatingInput } from './rating-input.js';

const NO_TOTALS: ReadonlyMap<string, bigint> = new Map();

/** A counter after the charge items of one event that it has counted. */
interface CountedAlone {
  /** × 10^18. */
  readonly total: bigint;
  /** Whether the value that the event has in the dimension of the counter has been counted. */
  readonly hasValue: boolean;
}

/**
 * Rates one event without stored counters, and without a route: periods are those of the calendar in UTC. The value
 * that a counter of distinct values gets from the event is new to it.
 *
 * @param totals before the event by name of the counter, × 10^18, for the counters of that name in all rule sets;
 * without one, the charge item is the first of its period
 */
export function rateAlone(
  rules: RatingRules,
  input: RatingInput,
  totals: ReadonlyMap<string, bigint> = NO_TOTALS,
): RatedEvent {
  const rated = rateEvent(rules, input);
  if (rated.ok !== undefined) return rated;
  const counted = new Map<string, CountedAlone>();
  const nextTotals = (item: CountedItem): CounterTotals => {
    const { counter, pricingSource, ruleSetId, value } = item;
    const key = JSON.stringify([pricingSource, ruleSetId, counter.name]);
    const known = counted.get(key);
    const before = known?.total ?? totals.get(counter.name);
    const hasValue = known?.hasValue ?? false;
    const after = totalAfter(counter, before, item, value !== undefined && !hasValue);
    // All charge items of an event have its value.
    counted.set(key, { total: after, hasValue: value !== undefined });
    return { periodStart: windowAt(counter.period, UTC_CALENDAR, input.occurredAt).startS, before, after };
  };
  return rated.price(rated.counted.map(nextTotals));
}
