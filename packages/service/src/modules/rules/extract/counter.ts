import {
  COUNTER_NAME_PATTERN,
  type CounterAggregate,
  type CounterScope,
  type Cumulative,
  DIMENSION_NAME_PATTERN,
} from '@tollgate/contract';
import { canonicalPeriod, type Period, parseCounterPeriod } from '../../../kernel/period.js';
import { CURRENCY_DEFAULT } from './checks.js';
import { Issues } from './issues.js';

/** The definition of a counter: the same in all versions of its rule set. */
export interface CounterDefinition {
  readonly name: string;
  readonly period: Period;
  readonly per: CounterScope;
  /** Dimensions whose values have counters of their own, in ascending order. */
  readonly by: readonly string[];
  readonly aggregate: CounterAggregate;
  /** The dimension whose distinct values are counted; only with `unique`. */
  readonly of: string | undefined;
  /** Currency of all amounts of the counter. */
  readonly currency: string;
}

const COUNTER_NAME = new RegExp(COUNTER_NAME_PATTERN);
const DIMENSION_NAME = new RegExp(DIMENSION_NAME_PATTERN);
export const COUNTER_AGGREGATE_DEFAULT = 'sum';

/** Checks a counter and returns it; undefined if it is not valid. */
export function compileCounter(
  { counter: name, period: periodText, per, by = [], aggregate = COUNTER_AGGREGATE_DEFAULT, of }: Cumulative,
  currency: string,
  path: string,
  issues: Issues,
): CounterDefinition | undefined {
  const found = issues.found.length;
  if (!COUNTER_NAME.test(name))
    issues.add(`${path}.counter`, `expected text that matches ${COUNTER_NAME_PATTERN}`);
  const period = parseCounterPeriod(periodText);
  if (period === undefined) {
    issues.add(
      `${path}.period`,
      'expected minute, hour, day, week, month, year, lifetime, or a duration such as 7d, 5h or 5 month',
    );
  }
  for (const [index, dimension] of by.entries()) {
    if (!DIMENSION_NAME.test(dimension)) {
      issues.add(`${path}.by[${index}]`, `expected text that matches ${DIMENSION_NAME_PATTERN}`);
    } else if (by.indexOf(dimension) < index) {
      issues.add(`${path}.by[${index}]`, `the dimension ${dimension} is already in the list`);
    }
  }
  if (aggregate === 'unique' && of === undefined) {
    issues.add(`${path}.of`, 'expected the dimension whose values are counted, because aggregate is unique');
  }
  if (aggregate !== 'unique' && of !== undefined) {
    issues.add(`${path}.of`, 'expected only with aggregate unique');
  }
  if (of !== undefined && !DIMENSION_NAME.test(of)) {
    issues.add(`${path}.of`, `expected text that matches ${DIMENSION_NAME_PATTERN}`);
  }
  if (period === undefined || issues.found.length > found) return undefined;
  return { name, period, per, by: by.toSorted(), aggregate, of, currency };
}

/** Returns one text for all ways to write a definition; two definitions are the same if their texts are. */
export function counterText({ name, period, ...rest }: CounterDefinition): string {
  const { per, by, aggregate, of, currency } = rest;
  return JSON.stringify({ counter: name, period: canonicalPeriod(period), per, by, aggregate, of, currency });
}

/** A counter of a config that was checked. */
export interface DefinedCounter {
  readonly name: string;
  /** See `counterText`. */
  readonly text: string;
  /** The entry of the config. */
  readonly path: string;
}

/** Returns the counters of a config, each by the first entry that has it. */
export function definedCounters(
  entries: readonly { readonly cumulative?: Cumulative; readonly currency?: string }[],
  place: string,
): DefinedCounter[] {
  const found = new Map<string, DefinedCounter>();
  for (const [index, { cumulative, currency = CURRENCY_DEFAULT }] of entries.entries()) {
    if (cumulative === undefined || found.has(cumulative.counter)) continue;
    const path = `${place}[${index}].cumulative`;
    const definition = compileCounter(cumulative, currency, path, new Issues());
    if (definition === undefined) throw new Error(`${path} was checked, and is not valid`);
    found.set(definition.name, { name: definition.name, text: counterText(definition), path });
  }
  return [...found.values()];
}

/** Checks that all rules of a rule set define a counter alike. */
export class CounterNames {
  readonly #issues: Issues;
  readonly #first = new Map<string, { readonly path: string; readonly text: string }>();

  constructor(issues: Issues) {
    this.#issues = issues;
  }

  /** Adds the counter of an entry of the rule set, if it has one. */
  add(definition: CounterDefinition | undefined, path: string): void {
    if (definition === undefined) return;
    const text = counterText(definition);
    const first = this.#first.get(definition.name);
    if (first === undefined) this.#first.set(definition.name, { path, text });
    else if (first.text !== text) {
      this.#issues.add(
        path,
        `expected the counter ${definition.name} as in ${first.path}: the same period, per, by, aggregate, of and currency`,
      );
    }
  }
}
