import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LimitRuleIndex, METRICS_CACHED_MAX } from './route-rules.js';
import type { CompiledRule } from './rule.js';
import { compiledRule } from './rule.testing.js';

type Dimensions = Readonly<Record<string, string>>;

function visited(index: LimitRuleIndex, metric: string, dimensions: Dimensions): number[] {
  const found: number[] = [];
  const textOf = (name: string) => (Object.hasOwn(dimensions, name) ? dimensions[name] : undefined);
  index.visit(metric, textOf, ({ ruleNo }) => found.push(ruleNo));
  return found;
}

/** Checks whether a rule selects an item, as plainly as possible. */
function selects(rule: CompiledRule, metric: string, dimensions: Dimensions): boolean {
  const { selectorType, selectorValue, dimension } = rule;
  if (selectorType === 'metric' && metric !== selectorValue) return false;
  if (selectorType === 'metrics' && !rule.selectorValues.includes(metric)) return false;
  if (selectorType === 'metric_prefix' && !metric.startsWith(selectorValue)) return false;
  if (dimension === undefined) return true;
  if (!Object.hasOwn(dimensions, dimension.key)) return false;
  const value = dimensions[dimension.key] ?? '';
  const fits = (listed: string) =>
    listed.endsWith('*') ? value.startsWith(listed.slice(0, -1)) : value === listed;
  return dimension.values === undefined ? value === dimension.value : dimension.values.some(fits);
}

const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 3 });
const name = fc.constantFrom('model', 'region', '__proto__', 'constructor');
const dimension = fc.oneof(
  fc.record({ key: name, value: text, values: fc.constant(undefined) }),
  fc.record({
    key: name,
    value: fc.constant(undefined),
    values: fc.uniqueArray(
      fc.oneof(
        text,
        text.map((prefix) => `${prefix}*`),
        fc.constant('*'),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  }),
);
const rules = fc
  .array(
    fc.record({
      selectorType: fc.constantFrom('all', 'metric', 'metrics', 'metric_prefix'),
      selectorValue: text,
      selectorValues: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
      dimension: fc.option(dimension, { nil: undefined }),
    }),
    { maxLength: 20 },
  )
  .map((list) => list.map((each, index) => compiledRule({ ...each, ruleNo: index })));

it('visits exactly the rules that select a metric and its dimensions, once', () => {
  fc.assert(
    fc.property(rules, fc.array(fc.tuple(text, fc.dictionary(name, text))), (list, events) => {
      const index = new LimitRuleIndex(list);
      for (const [metric, dimensions] of events) {
        const expected = list.filter((rule) => selects(rule, metric, dimensions)).map(({ ruleNo }) => ruleNo);
        expect(visited(index, metric, dimensions).sort((a, b) => a - b)).toEqual(expected);
      }
    }),
  );
});

it('asks for no dimension that no rule of the metric names', () => {
  const index = new LimitRuleIndex([
    compiledRule({
      dimension: { key: 'model', value: 'x', values: undefined },
      selectorType: 'metric',
      selectorValue: 'a',
    }),
  ]);
  const asked: string[] = [];
  const ask = (dimension: string) => {
    asked.push(dimension);
    return undefined;
  };
  index.visit('b', ask, () => {});
  expect(asked).toEqual([]);
  index.visit('a', ask, () => {});
  expect(asked).toEqual(['model']);
});

it('finds the rules of more metrics than it keeps at hand', () => {
  const index = new LimitRuleIndex([
    compiledRule({ ruleNo: 7, selectorType: 'metric_prefix', selectorValue: 'm1' }),
  ]);
  for (let round = 0; round < 2; round += 1) {
    for (let number = 0; number <= METRICS_CACHED_MAX; number += 1) {
      expect(visited(index, `m${number}`, {})).toEqual(`m${number}`.startsWith('m1') ? [7] : []);
    }
  }
});
