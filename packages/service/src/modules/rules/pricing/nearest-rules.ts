import type { PricingConfig, PricingRule } from '@tollgate/contract';
import {
  compileExpression,
  EventStepsError,
  type ExpressionEnv,
  ExpressionError,
} from '../expression/index.js';
import { pricingRuleNames } from './rule-names.js';

/** Why a pricing rule did not price a charge item. */
export interface NearRule {
  readonly ruleSetId: string;
  readonly ruleName: string;
  readonly rule: PricingRule;
  readonly reason: 'match_false' | 'match_failed' | 'metric_differs';
  /** That the condition names and the event does not have; only for `match_failed`. */
  readonly missingDimensions: readonly string[];
  readonly message: string;
}

type Candidate = Pick<NearRule, 'ruleSetId' | 'ruleName' | 'rule'>;

/** `dimensions.name` and `dimensions["name"]`. */
const DIMENSION_PATTERN = /\bdimensions\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\])/g;

/**
 * The rules that come nearest to pricing an item which none has priced: those of its metric in the order in which they are
 * tried, then those whose metric begins most alike. Only those that are returned are compiled.
 *
 * @param configs of the rule sets in force, by id
 */
export function nearestRules(
  configs: ReadonlyMap<string, PricingConfig>,
  env: ExpressionEnv,
  rulesMax: number,
): NearRule[] {
  const candidates = Array.from(configs, ([ruleSetId, { rules = [] }]) => {
    const names = pricingRuleNames(rules);
    return rules.map((rule, at): Candidate => ({ ruleSetId, ruleName: names[at] ?? rule.metric, rule }));
  }).flat();
  const likeness = ({ rule: { metric } }: Candidate) =>
    metric === env.metric ? Number.POSITIVE_INFINITY : commonStart(metric, env.metric);
  const priority = ({ rule: { priority = 0 } }: Candidate) => priority;
  return candidates
    .toSorted((a, b) => compare(likeness(b), likeness(a)) || priority(a) - priority(b))
    .slice(0, rulesMax)
    .map((candidate) => ({ ...candidate, ...reasonOf(candidate.rule, env) }));
}

function reasonOf(
  { metric, match_expr: source = '' }: PricingRule,
  env: ExpressionEnv,
): Pick<NearRule, 'reason' | 'missingDimensions' | 'message'> {
  if (metric !== env.metric) {
    const message = `The rule prices ${metric}, not ${env.metric}.`;
    return { reason: 'metric_differs', missingDimensions: [], message };
  }
  const compiled = compileExpression(source, { kind: 'match' });
  if (!compiled.ok) throw new Error(`a rule without a match that prices ${metric} would have priced it`);
  try {
    compiled.evaluate(env);
    return { reason: 'match_false', missingDimensions: [], message: 'match_expr is false for the event.' };
  } catch (error) {
    if (!(error instanceof ExpressionError) && !(error instanceof EventStepsError)) throw error;
    const missingDimensions = dimensionsIn(source).filter((name) => !env.dimensions.has(name));
    const missing =
      missingDimensions.length === 0 ? '' : ` The event has no ${missingDimensions.join(', ')}.`;
    const message = `match_expr cannot be computed: ${error.message}.${missing}`;
    return { reason: 'match_failed', missingDimensions, message };
  }
}

function dimensionsIn(source: string): string[] {
  const names = Array.from(
    source.matchAll(DIMENSION_PATTERN),
    ([, field, double, single]) => field ?? double ?? single,
  );
  return [...new Set(names.flatMap((name) => name ?? []))];
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
