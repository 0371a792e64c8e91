import { NEAREST_RULES_MAX, type PricingConfig, type UnpricedItem } from '@tollgate/contract';
import { fromStored, toText } from '../../kernel/decimal.js';
import {
  EventSteps,
  nearestRules,
  type RatedEvent,
  type RatingInput,
  type RatingRules,
  rateEvent,
} from '../rules/index.js';

/**
 * The charge items of an event that no rule has priced, with the rules that come nearest. An event that fails for want of a
 * price is rated once more by rules that accept it, so that all of its unpriced items are seen.
 *
 * @param configs texts of the pricing rules, by the id of their rule set
 */
export function unpricedItems(
  rules: RatingRules,
  input: RatingInput,
  rated: RatedEvent,
  configs: ReadonlyMap<string, PricingConfig>,
): UnpricedItem[] {
  const isRefused = !rated.ok && rated.failure.code === 'unpriced';
  const seen = isRefused
    ? rateEvent({ ...rules, extractor: { ...rules.extractor, failsUnpriced: false } }, input)
    : rated;
  if (!seen.ok) return [];
  const { subject, dimensions } = seen;
  // One budget of steps for all items, as of an event that is rated.
  const steps = new EventSteps();
  return seen.items.flatMap(({ pricingSource, metric, unit, quantity: stored }) => {
    if (pricingSource !== 'unpriced') return [];
    const quantity = fromStored(stored);
    const { occurredAt } = input;
    const env = { quantity, unitPrice: undefined, metric, unit, dimensions, subject, occurredAt, steps };
    const nearest = nearestRules(configs, env, NEAREST_RULES_MAX).map(
      ({ ruleSetId, ruleName, rule, reason, missingDimensions, message }) => ({
        rule_set_id: ruleSetId === '' ? null : ruleSetId,
        rule_name: ruleName,
        metric: rule.metric,
        match_expr: rule.match_expr ?? null,
        reason,
        missing_dimensions: [...missingDimensions],
        message,
      }),
    );
    return { metric, quantity: toText(quantity), nearest_rules: nearest };
  });
}
