import type { ExpressionEnv } from '../expression/index.js';
import type { RatingFailure } from '../extract/index.js';
import type { CompiledPricing, CompiledPricingRule } from './compile-pricing.js';
import { type RankedRule, RuleIndex } from './rule-index.js';

/** The pricing rules that are in force at one time, in the order in which they are tried. */
export interface PriceBook {
  /** The first rule that prices this charge item; or that which could not be asked, for want of steps. */
  ruleFor(env: ExpressionEnv): CompiledPricingRule | RatingFailure | undefined;
}

/**
 * Puts the rules of several rule sets in one order: by priority, then by rule set, the older one first (as its id tells), then
 * by position. Finding a rule costs about the same among five and among five hundred, whether they differ by their metric or
 * by the text of a dimension; what is found is what trying one after the other would find.
 */
export function priceBookOf(pricings: readonly CompiledPricing[]): PriceBook {
  const ordered = pricings.flatMap(({ rules }) => rules).toSorted(inOrder);
  const rulesByMetric = new Map<string, RankedRule[]>();
  for (const [rank, rule] of ordered.entries()) {
    const rules = rulesByMetric.get(rule.metric);
    if (rules === undefined) rulesByMetric.set(rule.metric, [{ rank, rule }]);
    else rules.push({ rank, rule });
  }
  const indexByMetric = new Map(
    Array.from(rulesByMetric, ([metric, rules]) => [metric, new RuleIndex(rules)]),
  );
  return { ruleFor: (env) => indexByMetric.get(env.metric)?.first(env) };
}

/** Without any rule. */
export const EMPTY_PRICE_BOOK = priceBookOf([]);

function inOrder(a: CompiledPricingRule, b: CompiledPricingRule): number {
  return (
    a.priority - b.priority || compareTexts(a.origin.ruleSetId, b.origin.ruleSetId) || a.position - b.position
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
