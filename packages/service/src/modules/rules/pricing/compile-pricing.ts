import {
  PRICING_PRIORITY_DEFAULT,
  type PricingAlias,
  type PricingConfig,
  type PricingRule,
} from '@tollgate/contract';
import type { BoundedMemory } from '../../../kernel/bounded-memory.js';
import {
  compileExpression,
  EventStepsError,
  type ExpressionEnv,
  ExpressionError,
} from '../expression/index.js';
import {
  CounterNames,
  checkCurrency,
  checkMetric,
  compileItemPricing,
  type Issue,
  Issues,
  type ItemPricing,
  type RatingFailure,
  type RuleOrigin,
  stepsRanOut,
  UNSAVED,
} from '../extract/index.js';
import { checkAliases } from './aliases.js';
import { namingRuleSet } from './naming-rule-set.js';
import { pricingRuleNames } from './rule-names.js';

export interface CompiledPricingRule {
  readonly origin: RuleOrigin;
  /** The name that is recorded with the charge item. */
  readonly name: string;
  readonly metric: string;
  readonly priority: number;
  /** Index among the stored rules of its rule set. */
  readonly position: number;
  /**
   * Returns whether the rule prices a charge item. An expression that cannot be computed does not match, unless steps
   * ran out.
   */
  readonly matches: (env: ExpressionEnv) => boolean | RatingFailure;
  /** The source of `matches`; empty without one. */
  readonly matchSource: string;
  readonly pricing: ItemPricing;
}

/** A pricing rule set, ready to price. Immutable, and free of any state between events. */
export interface CompiledPricing {
  readonly origin: RuleOrigin;
  readonly rules: readonly CompiledPricingRule[];
  readonly aliases: readonly PricingAlias[];
}

export type PricingResult =
  | { readonly ok: true; readonly pricing: CompiledPricing }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Checks what the schema of a pricing rule set cannot (patterns, duplicate names, expressions) and compiles it. All
 * issues are found at once, in the order of the configuration.
 *
 * @param codeMemory of a configuration that was saved: its expressions are compiled when they are needed, and kept
 * there
 */
export function compilePricing(
  config: PricingConfig,
  origin: RuleOrigin = UNSAVED,
  codeMemory?: BoundedMemory,
): PricingResult {
  const issues = new Issues(codeMemory);
  checkCurrency(config.currency, 'currency', issues);
  const { rules: configs = [], aliases = [] } = config;
  checkAliases(aliases, issues);
  const names = pricingRuleNames(configs);
  const firstByName = new Map<string, string>();
  const counters = new CounterNames(issues);
  const rules: CompiledPricingRule[] = [];
  for (const [position, rule] of configs.entries()) {
    const path = `rules[${position}]`;
    checkName(rule, path, firstByName, issues);
    checkMetric(rule.metric, `${path}.metric`, issues);
    const matches = compileMatch(rule.match_expr, `${path}.match_expr`, origin, issues);
    const pricing = compileItemPricing({ ...rule, currency: config.currency }, path, issues);
    if (pricing === undefined) {
      if (rule.cumulative === undefined && rule.total_expr === undefined) {
        issues.add(path, 'expected unit_price_expr, amount_expr or both, or cumulative with total_expr');
      }
      continue;
    }
    counters.add(pricing.total?.counter, `${path}.cumulative`);
    const { metric, priority = PRICING_PRIORITY_DEFAULT, match_expr: matchSource = '' } = rule;
    const name = names[position] ?? metric;
    rules.push({ origin, name, metric, priority, position, matches, matchSource, pricing });
  }
  return issues.found.length === 0
    ? { ok: true, pricing: { origin, rules, aliases } }
    : { ok: false, issues: issues.found };
}

/** Checks explicit names; those that default to the metric may repeat. */
function checkName(
  { name }: PricingRule,
  path: string,
  firstByName: Map<string, string>,
  issues: Issues,
): void {
  if (name === undefined) return;
  const first = firstByName.get(name);
  if (first === undefined) firstByName.set(name, path);
  else issues.add(`${path}.name`, `the name ${name} is already used by ${first}`);
}

const ALWAYS = () => true;

function compileMatch(
  source: string | undefined,
  path: string,
  origin: RuleOrigin,
  issues: Issues,
): CompiledPricingRule['matches'] {
  const expression = issues.expression(source, path, (match) => {
    const compiled = compileExpression(match, { kind: 'match' });
    return compiled.ok ? { ok: true, code: compiled } : { ok: false, message: compiled.issue.message };
  });
  if (expression === undefined) return ALWAYS;
  return (env) => {
    try {
      return expression.code.evaluate(env);
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      if (error instanceof EventStepsError) return namingRuleSet(origin, stepsRanOut(path));
      throw error;
    }
  };
}
