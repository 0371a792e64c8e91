import { BoundedMap } from '../../../kernel/bounded-map.js';
import { groupBy } from '../../../kernel/maps.js';
import type { CompiledRule } from './rule.js';

/** Upper bound of the metrics whose rules are cached. */
export const METRICS_CACHED_MAX = 1_000;

/** Rules that select a metric, by the dimension that they require. */
interface MetricRules {
  readonly unscoped: readonly CompiledRule[];
  readonly scoped: readonly DimensionRules[];
}

interface DimensionRules {
  readonly key: string;
  readonly byValue: ReadonlyMap<string, readonly CompiledRule[]>;
}

const NONE: readonly CompiledRule[] = [];

/**
 * The rules that apply to a subject. Finding the rules of a charge item costs as much as the number of rules found, not
 * as the number of all rules.
 */
export class LimitRuleIndex {
  readonly #ofAll: readonly CompiledRule[];
  readonly #byMetric: ReadonlyMap<string, readonly CompiledRule[]>;
  readonly #byPrefix: ReadonlyMap<string, readonly CompiledRule[]>;
  readonly #cached = new BoundedMap<string, MetricRules>(METRICS_CACHED_MAX);

  /** @param rules in the order in which they are shown and visited */
  constructor(readonly rules: readonly CompiledRule[]) {
    const ofType = (type: CompiledRule['selectorType']) =>
      rules.filter(({ selectorType }) => selectorType === type);
    this.#ofAll = ofType('all');
    this.#byMetric = groupBy(ofType('metric'), ({ selectorValue }) => selectorValue);
    this.#byPrefix = groupBy(ofType('metric_prefix'), ({ selectorValue }) => selectorValue);
  }

  /**
   * Visits the rules that select a metric and the dimensions. The caller checks measure and currency.
   *
   * @param textOf returns the text of a dimension; undefined for an absent one
   */
  visit(
    metric: string,
    textOf: (dimension: string) => string | undefined,
    visit: (rule: CompiledRule) => void,
  ): void {
    const { unscoped, scoped } = this.#ofMetric(metric);
    for (const rule of unscoped) visit(rule);
    for (const { key, byValue } of scoped) {
      const text = textOf(key);
      if (text === undefined) continue;
      for (const rule of byValue.get(text) ?? NONE) visit(rule);
    }
  }

  #ofMetric(metric: string): MetricRules {
    const known = this.#cached.get(metric);
    if (known !== undefined) return known;
    const rules = [...this.#ofAll, ...(this.#byMetric.get(metric) ?? NONE)];
    if (this.#byPrefix.size > 0) {
      for (let length = 1; length <= metric.length; length += 1) {
        rules.push(...(this.#byPrefix.get(metric.slice(0, length)) ?? NONE));
      }
    }
    const found = byDimension(rules);
    this.#cached.set(metric, found);
    return found;
  }
}

function byDimension(rules: readonly CompiledRule[]): MetricRules {
  const scoped = rules.filter(({ dimension }) => dimension !== undefined);
  return {
    unscoped: rules.filter(({ dimension }) => dimension === undefined),
    scoped: [...groupBy(scoped, ({ dimension }) => dimension?.key ?? '')].map(([key, ofKey]) => ({
      key,
      byValue: groupBy(ofKey, ({ dimension }) => dimension?.value ?? ''),
    })),
  };
}
