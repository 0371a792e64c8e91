import { compareText } from '../../../kernel/compare-text.js';
import {
  type DimensionValue,
  type ExpressionEnv,
  type TextCondition,
  textConditions,
} from '../expression/index.js';
import { RatingFailure, stepsRanOut } from '../extract/index.js';
import type { CompiledPricingRule } from './compile-pricing.js';
import { namingRuleSet } from './naming-rule-set.js';

export interface RankedRule {
  /** Position in the order in which rules are tried. */
  readonly rank: number;
  readonly rule: CompiledPricingRule;
}

/**
 * The rules of one metric. Rules that compare the same dimensions with texts form a group and are found by these texts;
 * rules that compare no text form one more group. Every group keeps its rules in order, and the first match of all
 * groups counts.
 */
export class PricingRuleIndex {
  readonly #rules: readonly RankedRule[];
  #groups: readonly RuleGroup[] | undefined;

  /** @param rules in order */
  constructor(rules: readonly RankedRule[]) {
    this.#rules = rules;
  }

  /** Returns the first rule that matches; a failure when the event has too few steps left to find it. */
  first(env: ExpressionEnv): RankedRule | RatingFailure | undefined {
    // There can be thousands of rules: those of one metric are grouped when it is first charged.
    this.#groups ??= groupsOf(this.#rules);
    let best: RankedRule | undefined;
    for (const group of this.#groups) {
      // Hundreds of groups can compare dozens of dimensions each.
      if (!env.steps.take(group.steps)) return group.ranOut();
      for (const ranked of group.candidates(env.dimensions)) {
        if (best !== undefined && ranked.rank > best.rank) break;
        const matches = ranked.rule.matches(env);
        if (matches instanceof RatingFailure) return matches;
        if (matches) {
          best = ranked;
          break;
        }
      }
    }
    return best;
  }
}

function groupsOf(rules: readonly RankedRule[]): RuleGroup[] {
  const groups = new Map<string, RuleGroup>();
  for (const ranked of rules) {
    const conditions = textConditions(ranked.rule.matchSource).toSorted(byDimension);
    const dimensions = conditions.map(({ dimension }) => dimension);
    const key = JSON.stringify(dimensions);
    let group = groups.get(key);
    if (group === undefined) {
      group = new RuleGroup(dimensions, ranked.rule);
      groups.set(key, group);
    }
    group.add(ranked, conditions);
  }
  // More compared dimensions leave fewer rules to try, and the first match bounds the search in the next group.
  return [...groups.values()].toSorted((a, b) => b.dimensions.length - a.dimensions.length);
}

/** Rules by the texts of dimensions, one level for each. */
class TextNode {
  readonly rules: RankedRule[] = [];
  readonly children = new Map<string, TextNode>();

  childOf(text: string): TextNode {
    let child = this.children.get(text);
    if (child === undefined) {
      child = new TextNode();
      this.children.set(text, child);
    }
    return child;
  }
}

const NONE: readonly RankedRule[] = [];

/** Rules that compare the same dimensions with texts. */
class RuleGroup {
  readonly #firstRule: CompiledPricingRule;
  readonly #root = new TextNode();

  /** Upper bound of the steps of finding its candidates. */
  readonly steps: number;

  /** @param dimensions sorted by name */
  constructor(
    readonly dimensions: readonly string[],
    firstRule: CompiledPricingRule,
  ) {
    this.#firstRule = firstRule;
    this.steps = dimensions.length + 1;
  }

  ranOut(): RatingFailure {
    const { origin, pricing } = this.#firstRule;
    return namingRuleSet(origin, stepsRanOut(`${pricing.path}.match_expr`));
  }

  /** @param conditions on these dimensions, in their order */
  add(ranked: RankedRule, conditions: readonly TextCondition[]): void {
    conditions.reduce((node, { text }) => node.childOf(text), this.#root).rules.push(ranked);
  }

  /** Returns the rules whose texts these dimensions have, in order. */
  candidates(dimensions: ReadonlyMap<string, DimensionValue>): readonly RankedRule[] {
    let node: TextNode | undefined = this.#root;
    for (const dimension of this.dimensions) {
      const value = dimensions.get(dimension);
      if (typeof value !== 'string') return NONE;
      node = node.children.get(value);
      if (node === undefined) return NONE;
    }
    return node.rules;
  }
}

function byDimension(a: TextCondition, b: TextCondition): number {
  return compareText(a.dimension, b.dimension);
}
