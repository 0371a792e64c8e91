import { PRICING_PRIORITY_DEFAULT, type PricingConfig, type PricingRule } from '@tollgate/contract';
import { atOnce, type Pieces } from '../../../kernel/pieces.js';
import {
  compileExpression,
  EventStepsError,
  type ExpressionEnv,
  ExpressionError,
  type TextCondition,
} from '../expression/index.js';
import {
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
import { placedIn } from './placed-in.js';
import { pricingRuleNames } from './rule-names.js';

export interface CompiledPricingRule {
  readonly origin: RuleOrigin;
  /** What is recorded as the rule's name. */
  readonly name: string;
  readonly metric: string;
  readonly priority: number;
  /** Place among the rules of its rule set, as they are stored. */
  readonly position: number;
  /** Whether the rule prices a charge item; whatever cannot be computed is no match, but for want of steps. */
  readonly matches: (env: ExpressionEnv) => boolean | RatingFailure;
  /** What must hold for `matches` to be true. */
  readonly textConditions: readonly TextCondition[];
  readonly pricing: ItemPricing;
}

/** A pricing rule set, ready to price. Immutable, and free of any state between events. */
export interface CompiledPricing {
  readonly origin: RuleOrigin;
  readonly rules: readonly CompiledPricingRule[];
}

export type PricingResult =
  | { readonly ok: true; readonly pricing: CompiledPricing }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Checks what the schema of a pricing rule set cannot (patterns, duplicate names, expressions) and compiles it.
 * All issues are found at once, in the order of the configuration.
 */
export function compilePricing(config: PricingConfig, origin: RuleOrigin = UNSAVED): PricingResult {
  return atOnce(pricingPieces(config, origin));
}

/** The same, a rule at a time: five hundred long ones take a second. */
export function* pricingPieces(config: PricingConfig, origin: RuleOrigin = UNSAVED): Pieces<PricingResult> {
  const issues = new Issues();
  checkCurrency(config.currency, 'currency', issues);
  const configs = config.rules ?? [];
  const names = pricingRuleNames(configs);
  const firstByName = new Map<string, string>();
  const rules: CompiledPricingRule[] = [];
  for (const [position, rule] of configs.entries()) {
    yield;
    const path = `rules[${position}]`;
    checkName(rule, path, firstByName, issues);
    checkMetric(rule.metric, `${path}.metric`, issues);
    const match = compileMatch(rule.match_expr, `${path}.match_expr`, origin, issues);
    const pricing = compileItemPricing({ ...rule, currency: config.currency }, path, issues);
    if (pricing === undefined) {
      issues.add(path, 'expected unit_price_expr, amount_expr or both');
      continue;
    }
    const { metric, priority = PRICING_PRIORITY_DEFAULT } = rule;
    rules.push({ origin, name: names[position] ?? metric, metric, priority, position, ...match, pricing });
  }
  return issues.found.length === 0
    ? { ok: true, pricing: { origin, rules } }
    : { ok: false, issues: issues.found };
}

/** Names that were given; those that default to the metric may repeat. */
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

type Match = Pick<CompiledPricingRule, 'matches' | 'textConditions'>;

const ALWAYS: Match = { matches: () => true, textConditions: [] };

function compileMatch(source: string | undefined, path: string, origin: RuleOrigin, issues: Issues): Match {
  if (source === undefined) return ALWAYS;
  const compiled = compileExpression(source, { kind: 'match' });
  if (!compiled.ok) {
    issues.add(path, compiled.issue.message);
    return ALWAYS;
  }
  const { evaluate, textConditions } = compiled;
  const matches: Match['matches'] = (env) => {
    try {
      return evaluate(env);
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      if (error instanceof EventStepsError) return placedIn(origin, stepsRanOut(path));
      throw error;
    }
  };
  return { matches, textConditions };
}
