import { RatingFailure, type RuleOrigin } from '../extract/index.js';

/**
 * Adds the rule set to the message of a failure. Its path begins in the rule set, and an event may have many pricing
 * rule sets.
 */
export function namingRuleSet(
  { ruleSetId }: RuleOrigin,
  { code, message, path }: RatingFailure,
): RatingFailure {
  // Rules in a test request have no id.
  const text = ruleSetId === '' ? message : `Pricing rule set ${ruleSetId}: ${message}`;
  return new RatingFailure(code, text, path);
}
