import { BoundedMap } from '../../../kernel/bounded-map.js';
import { groupBy } from '../../../kernel/maps.js';
import type { CompiledRule } from './rule.js';
import { parseValuePatterns } from './value-pattern.js';

/** Upper bound of the texts whose rules are cached, where rules have prefixes. */
const TEXTS_CACHED_MAX = 1_000;
const NONE: readonly CompiledRule[] = [];

interface ValueRule {
  readonly text: string;
  readonly rule: CompiledRule;
}

/** The rules that require a dimension, by the values that they select. */
export class DimensionRules {
  readonly #byValue: ReadonlyMap<string, readonly ValueRule[]>;
  readonly #byPrefix: ReadonlyMap<string, readonly ValueRule[]>;
  readonly #prefixCharsMax: number;
  readonly #rules: readonly CompiledRule[];
  readonly #cached = new BoundedMap<string, readonly CompiledRule[]>(TEXTS_CACHED_MAX);

  constructor(
    readonly key: string,
    rules: readonly CompiledRule[],
  ) {
    this.#rules = rules;
    const selected = rules.map((rule) => ({ rule, ...selectedBy(rule) }));
    const byText = ({ text }: ValueRule) => text;
    this.#byValue = groupBy(
      selected.flatMap(({ rule, exact }) => exact.map((text) => ({ text, rule }))),
      byText,
    );
    this.#byPrefix = groupBy(
      selected.flatMap(({ rule, prefixes }) => prefixes.map((text) => ({ text, rule }))),
      byText,
    );
    this.#prefixCharsMax = Math.max(...[...this.#byPrefix.keys()].map(({ length }) => length), 0);
  }

  /**
   * Returns the rules that select a value of the dimension, in their order, each once, however many of its values and
   * prefixes fit.
   */
  of(text: string): readonly CompiledRule[] {
    if (this.#byPrefix.size === 0 && !this.#byValue.has(text)) return NONE;
    const known = this.#cached.get(text);
    if (known !== undefined) return known;
    const found = [...(this.#byValue.get(text) ?? [])];
    const lengthMax = Math.min(text.length, this.#prefixCharsMax);
    for (let length = 0; this.#byPrefix.size > 0 && length <= lengthMax; length += 1) {
      found.push(...(this.#byPrefix.get(text.slice(0, length)) ?? []));
    }
    const selecting = new Set(found.map(({ rule }) => rule));
    const rules = this.#rules.filter((rule) => selecting.has(rule));
    this.#cached.set(text, rules);
    return rules;
  }
}

function selectedBy({ dimension }: CompiledRule): { readonly exact: string[]; readonly prefixes: string[] } {
  if (dimension?.values !== undefined) return parseValuePatterns(dimension.values);
  return { exact: dimension?.value === undefined ? [] : [dimension.value], prefixes: [] };
}
