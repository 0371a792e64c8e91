import { ALIAS_STARS_MAX, DIMENSION_NAME_PATTERN, type PricingAlias } from '@tollgate/contract';
import { BoundedMap } from '../../../kernel/bounded-map.js';
import type { Issues } from '../extract/index.js';

const DIMENSION_NAME = new RegExp(DIMENSION_NAME_PATTERN);

/** Checks what the schema of a pricing rule set cannot: dimension names, asterisks and duplicate patterns. */
export function checkAliases(aliases: readonly PricingAlias[], issues: Issues): void {
  const firstByPattern = new Map<string, string>();
  for (const [position, { dimension, pattern }] of aliases.entries()) {
    const path = `aliases[${position}]`;
    if (!DIMENSION_NAME.test(dimension)) {
      issues.add(`${path}.dimension`, `expected text that matches ${DIMENSION_NAME_PATTERN}`);
    }
    if (pattern.split('*').length - 1 > ALIAS_STARS_MAX) {
      issues.add(`${path}.pattern`, `expected at most ${ALIAS_STARS_MAX} stars (ALIAS_STARS_MAX)`);
    }
    // Dimension names contain no line breaks.
    const key = `${dimension}\n${pattern}`;
    const first = firstByPattern.get(key);
    if (first === undefined) firstByPattern.set(key, path);
    else issues.add(`${path}.pattern`, `the pattern ${pattern} is already used by ${first}`);
  }
}

/**
 * Whether the whole of a text matches a pattern in which `*` stands for any text. The parts between the stars are
 * searched for one after the other, each at its earliest place: nothing is ever tried again.
 */
export function fitsPattern(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/** An alias of one of several rule sets. */
export interface OwnedAlias<Owner> {
  readonly owner: Owner;
  /** Its index among the aliases of the rule set. */
  readonly position: number;
  readonly alias: PricingAlias;
}

/** The aliases that match a value, and the steps of finding them. */
export interface AliasMatches<Owner> {
  /** The first match of each owner that has one, unless it changes nothing. */
  readonly matches: readonly OwnedAlias<Owner>[];
  readonly steps: number;
}

/** Bounds of the cache: values, and characters of the longest value. */
const REMEMBERED_VALUES_MAX = 256;
const REMEMBERED_CHARS_MAX = 128;
/** Characters of text and pattern together that cost one step to compare. */
const STEP_CHARS = 8;

/**
 * The aliases of all rule sets for one dimension. A pattern without a star, or with a single one at its end, is looked
 * up, so that thousands of them cost as much as one for each length of the text before the star; only others are tried
 * one by one.
 */
export class DimensionAliases<Owner> {
  readonly #exact = new Map<string, OwnedAlias<Owner>[]>();
  readonly #byPrefix = new Map<string, OwnedAlias<Owner>[]>();
  readonly #prefixLengths: readonly number[];
  readonly #others: OwnedAlias<Owner>[] = [];
  readonly #remembered = new BoundedMap<string, AliasMatches<Owner>>(REMEMBERED_VALUES_MAX);

  constructor(aliases: readonly OwnedAlias<Owner>[]) {
    for (const placed of aliases) {
      const { pattern } = placed.alias;
      const star = pattern.indexOf('*');
      if (star < 0) addTo(this.#exact, pattern, placed);
      else if (star === pattern.length - 1) addTo(this.#byPrefix, pattern.slice(0, -1), placed);
      else this.#others.push(placed);
    }
    this.#prefixLengths = [...new Set(Array.from(this.#byPrefix.keys(), (prefix) => prefix.length))];
  }

  /** The result and its steps depend on the value alone; the cache only saves time. */
  find(value: string): AliasMatches<Owner> {
    const known = this.#remembered.get(value);
    if (known !== undefined) return known;
    const found = this.#find(value);
    if (value.length <= REMEMBERED_CHARS_MAX) this.#remembered.set(value, found);
    return found;
  }

  #find(value: string): AliasMatches<Owner> {
    const fitting = [...(this.#exact.get(value) ?? [])];
    for (const length of this.#prefixLengths) {
      if (length <= value.length) fitting.push(...(this.#byPrefix.get(value.slice(0, length)) ?? []));
    }
    let steps = 1 + this.#prefixLengths.length;
    for (const placed of this.#others) {
      const { pattern } = placed.alias;
      steps += 1 + Math.ceil((value.length + pattern.length) / STEP_CHARS);
      if (fitsPattern(pattern, value)) fitting.push(placed);
    }
    const firstByOwner = new Map<Owner, OwnedAlias<Owner>>();
    for (const placed of fitting) {
      const first = firstByOwner.get(placed.owner);
      if (first === undefined || placed.position < first.position) firstByOwner.set(placed.owner, placed);
    }
    const matches = [...firstByOwner.values()].filter(({ alias }) => alias.value !== value);
    return { matches, steps };
  }
}

function addTo<Owner>(lists: Map<string, OwnedAlias<Owner>[]>, key: string, placed: OwnedAlias<Owner>): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [placed]);
  else list.push(placed);
}
