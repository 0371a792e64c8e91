import {
  type AppliedAlias,
  NEAREST_RULES_MAX,
  type NearestRule,
  PRICED_METRICS_MAX,
  PRICING_PRIORITY_DEFAULT,
  type PricingConfig,
  type PricingRule,
} from '@tollgate/contract';
import {
  compileExpression,
  dimensionsIn,
  type EventSteps,
  EventStepsError,
  type ExpressionEnv,
  ExpressionError,
  readsDimension,
  textConditions,
} from '../expression/index.js';
import { afterAliases, envOf, fittingAliases, type RecordedItem } from './recorded-item.js';
import { pricingRuleNames } from './rule-names.js';

/** Upper bound of the rules of one metric that are compared, to limit the time. */
const RULES_COMPARED_MAX = 5_000;

interface Candidate {
  readonly ruleSetId: string;
  readonly ruleName: string;
  readonly rule: PricingRule;
  /** The values of the event that the rules of the rule set see. */
  readonly reading: Reading;
}

/** The item after the aliases of a rule set. */
interface Reading {
  readonly env: ExpressionEnv;
  readonly aliases: readonly AppliedAlias[];
}

type Reason = Pick<NearestRule, 'reason' | 'missing_dimensions' | 'message'>;

/**
 * Returns the rules of the metric that are nearest to pricing an item that none has priced: first those whose
 * conditions on texts differ least from the event after the aliases of its rule set, then by priority. Only rules that
 * are returned are compiled.
 *
 * @param configs of the active rule sets, by id; the id of rules in a request is empty
 * @param steps that the evaluations may take
 */
export function nearestRules(
  configs: ReadonlyMap<string, PricingConfig>,
  item: RecordedItem,
  steps: EventSteps,
): NearestRule[] {
  const env = envOf(item, steps);
  const candidates = Array.from(configs, ([ruleSetId, { rules = [], aliases = [] }]) => {
    const names = pricingRuleNames(rules);
    const reading = { env, aliases: fittingAliases(aliases, env.dimensions) };
    return rules.flatMap((rule, at): Candidate[] => {
      if (rule.metric !== item.metric) return [];
      return [{ ruleSetId, ruleName: names[at] ?? rule.metric, rule, reading }];
    });
  }).flat();
  return candidates
    .toSorted(byPriority)
    .slice(0, RULES_COMPARED_MAX)
    .map((candidate) => ({ candidate, distance: distanceOf(candidate) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, NEAREST_RULES_MAX)
    .map(({ candidate }) => toNearestRule(candidate));
}

/** Returns metrics that the rules price, the most similar name first; none where a rule prices this one. */
export function pricedMetrics(configs: ReadonlyMap<string, PricingConfig>, metric: string): string[] {
  const metrics = new Set(
    [...configs.values()].flatMap(({ rules = [] }) => rules.map((rule) => rule.metric)),
  );
  if (metrics.has(metric)) return [];
  return [...metrics]
    .toSorted((a, b) => commonStart(b, metric) - commonStart(a, metric))
    .slice(0, PRICED_METRICS_MAX);
}

function toNearestRule(candidate: Candidate): NearestRule {
  const { ruleSetId, ruleName, rule } = candidate;
  const aliases = aliasesOf(candidate);
  return {
    rule_set_id: ruleSetId === '' ? null : ruleSetId,
    rule_name: ruleName,
    metric: rule.metric,
    match_expr: rule.match_expr ?? null,
    aliases: [...aliases],
    ...reasonOf(candidate, aliases),
  };
}

/** The aliases of dimensions that the condition of the rule reads. */
function aliasesOf({ rule: { match_expr: source = '' }, reading }: Candidate): readonly AppliedAlias[] {
  return reading.aliases.filter(({ dimension }) => readsDimension(source, dimension));
}

function reasonOf({ rule, reading: { env } }: Candidate, aliases: readonly AppliedAlias[]): Reason {
  const { match_expr: source } = rule;
  const asItIs = source === undefined || matchOf(source, env);
  const found =
    asItIs === true || aliases.length === 0 || source === undefined
      ? asItIs
      : matchOf(source, { ...env, dimensions: afterAliases(env.dimensions, aliases) });
  const seen =
    aliases.length === 0
      ? ''
      : `, with ${aliases.map(({ dimension, from, value }) => `${dimension} ${from} read as ${value}`).join(', ')}`;
  if (found === true) {
    const message = `The rule matches now${seen}: it became active after the event was rated.`;
    return { reason: 'matches_now', missing_dimensions: [], message };
  }
  if (found === false) {
    return {
      reason: 'match_false',
      missing_dimensions: [],
      message: `match_expr is false for the event${seen}.`,
    };
  }
  const missing = dimensionsIn(source ?? '').filter((name) => !env.dimensions.has(name));
  const without = missing.length === 0 ? '' : ` The event has no ${missing.join(', ')}.`;
  const message = `match_expr cannot be evaluated${seen}: ${found.message}.${without}`;
  return { reason: 'match_failed', missing_dimensions: missing, message };
}

/** Whether a condition holds, or why it cannot be evaluated. */
function matchOf(source: string, env: ExpressionEnv): boolean | ExpressionError | EventStepsError {
  const compiled = compileExpression(source, { kind: 'match' });
  if (!compiled.ok) throw new Error(`a saved match_expr that prices ${env.metric} does not compile`);
  try {
    return compiled.evaluate(env);
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof EventStepsError) return error;
    throw error;
  }
}

/**
 * Returns how far the conditions `dimensions.x == "text"` of a rule are from being true: for each condition 0 where the
 * text equals that of the event, or that of its alias, and 1 where the texts have nothing in common.
 */
function distanceOf({ rule: { match_expr: source = '' }, reading: { env, aliases } }: Candidate): number {
  let distance = 0;
  for (const { dimension, text } of textConditions(source)) {
    const value = env.dimensions.get(dimension);
    const alias = aliases.find((each) => each.dimension === dimension);
    const texts = [value, alias?.value].filter((each) => typeof each === 'string');
    distance += 1 - Math.max(0, ...texts.map((each) => likenessOf(each, text)));
  }
  return distance;
}

/** Returns the length of the common prefix or suffix of both texts, as a share of the longer one. */
function likenessOf(a: string, b: string): number {
  if (a === b) return 1;
  return Math.max(commonStart(a, b), commonEnd(a, b)) / Math.max(a.length, b.length);
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

function commonEnd(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}

function byPriority({ rule: a }: Candidate, { rule: b }: Candidate): number {
  return (a.priority ?? PRICING_PRIORITY_DEFAULT) - (b.priority ?? PRICING_PRIORITY_DEFAULT);
}
