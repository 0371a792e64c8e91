import { describe, expect, it } from 'vitest';
import { DimensionRules } from './dimension-rules.js';
import { LimitRuleIndex } from './route-rules.js';
import { compiledRule } from './rule.testing.js';

const listing = (id: string, values: readonly string[]) =>
  compiledRule({ id, dimension: { key: 'model', value: undefined, values } });
const exactly = (id: string, value: string) =>
  compiledRule({ id, dimension: { key: 'model', value, values: undefined } });
const idsOf = (rules: DimensionRules, text: string) => rules.of(text).map(({ id }) => id);

describe('rules by the values of a dimension', () => {
  const rules = new DimensionRules('model', [
    listing('family', ['gpt-5*', 'gpt-5', 'gpt-5-mini', 'o\\*']),
    listing('any', ['*']),
    exactly('literal', 'gpt-5*'),
  ]);

  it.each([
    ['gpt-5', ['family', 'any']],
    ['gpt-5-mini-2025', ['family', 'any']],
    ['gpt-4', ['any']],
    ['', ['any']],
    ['o*', ['family', 'any']],
    ['o1', ['any']],
    ['gpt-5*', ['family', 'any', 'literal']],
  ])('select "%s", each once', (text, ids) => {
    expect(idsOf(rules, text)).toEqual(ids);
    expect(idsOf(rules, text)).toEqual(ids);
  });

  it('select nothing where no value and no prefix fits', () => {
    expect(idsOf(new DimensionRules('model', [listing('one', ['a', 'bc*'])]), 'b')).toEqual([]);
  });

  it('are visited for each of their metrics, and for no other', () => {
    const index = new LimitRuleIndex([
      compiledRule({ id: 'two', selectorType: 'metrics', selectorValues: ['a', 'b'] }),
      compiledRule({ id: 'one', selectorType: 'metric', selectorValue: 'b' }),
    ]);
    const visited = (metric: string) => {
      const ids: string[] = [];
      index.visit(
        metric,
        () => undefined,
        ({ id }) => ids.push(id),
      );
      return ids.sort();
    };
    expect(['a', 'b', 'ab', ''].map(visited)).toEqual([['two'], ['one', 'two'], [], []]);
  });
});
