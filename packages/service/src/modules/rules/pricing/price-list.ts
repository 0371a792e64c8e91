import type { PricingAlias } from '@tollgate/contract';
import { compareText } from '../../../kernel/compare-text.js';
import { groupBy } from '../../../kernel/maps.js';
import { type DimensionValue, type ExpressionEnv, readsDimension } from '../expression/index.js';
import { RatingFailure, stepsRanOut } from '../extract/index.js';
import { DimensionAliases, type OwnedAlias } from './aliases.js';
import type { CompiledPricing, CompiledPricingRule } from './compile-pricing.js';
import { afterAliases } from './recorded-item.js';
import { PricingRuleIndex, type RankedRule } from './rule-index.js';

/** The rule that prices a charge item, and the event's values as the rule sees them. */
export interface MatchedRule {
  readonly rule: CompiledPricingRule;
  /** Dimensions of the event, after the aliases by which the rule matched. */
  readonly dimensions: ReadonlyMap<string, DimensionValue>;
  /** Aliases by which the rule matched; none if it matches the original values. */
  readonly aliases: readonly PricingAlias[];
}

/** The pricing rules that are active at one time, in the order in which they are tried. */
export interface PriceList {
  /** Returns the first rule that prices this charge item; a failure when the steps ran out. */
  ruleFor(env: ExpressionEnv): MatchedRule | RatingFailure | undefined;
}

/**
 * Puts the rules of several rule sets in one order: by priority, then by rule set, the older one first (ids contain
 * their age), then by position. Finding a rule costs about the same among five and among five hundred, whether they
 * differ by metric or by the text of a dimension. The result equals that of trying one rule after the other.
 */
export function priceListOf(pricings: readonly CompiledPricing[]): PriceList {
  if (pricings.length === 0) return EMPTY_PRICE_LIST;
  const ordered = pricings.flatMap(({ rules }) => rules).toSorted(inOrder);
  const ranked = ordered.map((rule, rank) => ({ rank, rule }));
  const rules = new IndexedRules(ranked);
  const aliased = pricings.filter(({ aliases }) => aliases.length > 0);
  if (aliased.length > 0) return new AliasedBook(rules, aliased, ranked);
  return {
    ruleFor: (env) => {
      const found = rules.first(env);
      return found === undefined || found instanceof RatingFailure ? found : asItIs(found, env);
    },
  };
}

/** A price list without rules. */
export const EMPTY_PRICE_LIST: PriceList = { ruleFor: () => undefined };

const NO_ALIASES: readonly PricingAlias[] = [];

function asItIs({ rule }: RankedRule, { dimensions }: ExpressionEnv): MatchedRule {
  return { rule, dimensions, aliases: NO_ALIASES };
}

/** Rules in order, by metric. */
class IndexedRules {
  readonly #byMetric = new Map<string, PricingRuleIndex>();

  constructor(ranked: readonly RankedRule[]) {
    const rulesByMetric = new Map<string, RankedRule[]>();
    for (const each of ranked) {
      const rules = rulesByMetric.get(each.rule.metric);
      if (rules === undefined) rulesByMetric.set(each.rule.metric, [each]);
      else rules.push(each);
    }
    for (const [metric, rules] of rulesByMetric) this.#byMetric.set(metric, new PricingRuleIndex(rules));
  }

  first(env: ExpressionEnv): RankedRule | RatingFailure | undefined {
    return this.#byMetric.get(env.metric)?.first(env);
  }
}

/** A rule set that has aliases, with an index of its own rules. */
class AliasedRules {
  readonly #allRules: readonly RankedRule[];
  #rules: IndexedRules | undefined;

  constructor(
    readonly pricing: CompiledPricing,
    allRules: readonly RankedRule[],
  ) {
    this.#allRules = allRules;
  }

  first(env: ExpressionEnv): RankedRule | RatingFailure | undefined {
    const { origin } = this.pricing;
    this.#rules ??= new IndexedRules(this.#allRules.filter(({ rule }) => rule.origin === origin));
    return this.#rules.first(env);
  }
}

/** Dimension values after the aliases of one rule set. */
interface Rewriting {
  readonly owner: AliasedRules;
  readonly aliases: readonly PricingAlias[];
}

/**
 * Rules of several rule sets, some with aliases. First the rules are matched against the original event. Then the rules
 * of each rule set are also matched after its aliases of the dimensions on which the rule found has no condition, and
 * the first matching rule in order applies.
 */
class AliasedBook implements PriceList {
  readonly #rules: IndexedRules;
  readonly #byDimension: ReadonlyMap<string, DimensionAliases<AliasedRules>>;
  /** Dimensions with aliases in the condition of a rule. */
  readonly #readByRule = new Map<CompiledPricingRule, ReadonlySet<string>>();

  constructor(rules: IndexedRules, pricings: readonly CompiledPricing[], ranked: readonly RankedRule[]) {
    this.#rules = rules;
    const placed = pricings.flatMap((pricing): OwnedAlias<AliasedRules>[] => {
      const owner = new AliasedRules(pricing, ranked);
      return pricing.aliases.map((alias, position) => ({ owner, position, alias }));
    });
    const byDimension = groupBy(placed, ({ alias }) => alias.dimension);
    this.#byDimension = new Map(
      Array.from(byDimension, ([dimension, aliases]) => [dimension, new DimensionAliases(aliases)]),
    );
  }

  ruleFor(env: ExpressionEnv): MatchedRule | RatingFailure | undefined {
    const plain = this.#rules.first(env);
    if (plain instanceof RatingFailure) return plain;
    const rewritings = this.#rewritings(env);
    if (rewritings instanceof RatingFailure) return rewritings;
    let best = plain;
    let found = plain && asItIs(plain, env);
    for (const { owner, aliases } of rewritings) {
      const applied =
        plain === undefined
          ? aliases
          : aliases.filter(({ dimension }) => !this.#reads(plain.rule, dimension));
      if (applied.length === 0) continue;
      // A copy of them for each rule set that has an alias.
      if (!env.steps.take(env.dimensions.size + 1)) return stepsRanOut('aliases');
      const dimensions = afterAliases(env.dimensions, applied);
      const candidate = owner.first({ ...env, dimensions });
      if (candidate instanceof RatingFailure) return candidate;
      if (candidate === undefined || (best !== undefined && candidate.rank >= best.rank)) continue;
      best = candidate;
      found = { rule: candidate.rule, dimensions, aliases: applied };
    }
    return found;
  }

  /** Whether the condition of a rule reads this dimension. */
  #reads(rule: CompiledPricingRule, dimension: string): boolean {
    let known = this.#readByRule.get(rule);
    if (known === undefined) {
      const aliased = [...this.#byDimension.keys()];
      known = new Set(aliased.filter((name) => readsDimension(rule.matchSource, name)));
      this.#readByRule.set(rule, known);
    }
    return known.has(dimension);
  }

  #rewritings({ dimensions, steps }: ExpressionEnv): readonly Rewriting[] | RatingFailure {
    let rewritings: Map<AliasedRules, PricingAlias[]> | undefined;
    for (const [dimension, aliases] of this.#byDimension) {
      const value = dimensions.get(dimension);
      if (typeof value !== 'string') continue;
      const found = aliases.find(value);
      if (!steps.take(found.steps)) return stepsRanOut('aliases');
      for (const { owner, alias } of found.matches) {
        rewritings ??= new Map();
        const known = rewritings.get(owner);
        if (known === undefined) rewritings.set(owner, [alias]);
        else known.push(alias);
      }
    }
    return rewritings === undefined ? [] : Array.from(rewritings, ([owner, aliases]) => ({ owner, aliases }));
  }
}

function inOrder(a: CompiledPricingRule, b: CompiledPricingRule): number {
  return (
    a.priority - b.priority || compareText(a.origin.ruleSetId, b.origin.ruleSetId) || a.position - b.position
  );
}
