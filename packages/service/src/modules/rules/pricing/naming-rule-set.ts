import { RatingFailure, type RuleOrigin } from '../extract/index.js';

/** The path of a failure begins in its rule set, and of pricing rule sets there are many: the message says which. */
export function namingRuleSet(
  { ruleSetId }: RuleOrigin,
  { code, message, path }: RatingFailure,
): RatingFailure {
  // Rules that were sent to be tested have no id.
  const text = ruleSetId === '' ? message : `Pricing rule set ${ruleSetId}: ${message}`;
  return new RatingFailure(code, text, path);
}
