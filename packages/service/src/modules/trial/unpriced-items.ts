import type { DimensionConfig, PricingConfig, UnpricedItem, UsageChargeItem } from '@tollgate/contract';
import {
  EventSteps,
  nearestRules,
  pricedMetrics,
  type RatedEvent,
  type RatingInput,
  type RatingRules,
  rateAlone,
} from '../rules/index.js';
import { type RecordedEvent, recordedItem } from '../usage/index.js';
import { outcomeOf } from './outcome.js';

/** The input for explaining why charge items have no price. */
export interface UnpricedInput {
  readonly event: RecordedEvent;
  /** Id of the extractor version that read the event. */
  readonly dimensionTypes: readonly Pick<DimensionConfig, 'name' | 'type'>[];
  /** Sources of the active pricing rules, by the id of their rule set. */
  readonly configs: ReadonlyMap<string, PricingConfig>;
}

/** Returns the charge items that no rule has priced, with the nearest rules. */
export function unpricedItems(
  items: readonly UsageChargeItem[],
  { event, dimensionTypes, configs }: UnpricedInput,
): UnpricedItem[] {
  // One budget of steps for all items, as for an event that is rated.
  const steps = new EventSteps();
  return items.flatMap((item) => {
    if (item.pricing_source !== 'unpriced') return [];
    const { metric, quantity } = item;
    return {
      metric,
      quantity,
      nearest_rules: nearestRules(configs, recordedItem(item, event, dimensionTypes), steps),
      priced_metrics: pricedMetrics(configs, metric),
    };
  });
}

/**
 * Returns the charge items of an event. An event that fails because a price is missing is rated once more by rules that
 * accept this, so that all of its unpriced items are found.
 */
export function itemsWithoutPrices(
  rules: RatingRules,
  input: RatingInput,
  rated: RatedEvent,
): readonly UsageChargeItem[] {
  const isRefused = !rated.ok && rated.failure.code === 'unpriced';
  if (!isRefused) return outcomeOf(rated).items;
  const extractor = { ...rules.extractor, failsUnpriced: false };
  return outcomeOf(rateAlone({ ...rules, extractor }, input)).items;
}
