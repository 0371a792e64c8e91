import type { PricingRule } from '@tollgate/contract';
import { expect, it } from 'vitest';
import type { ConvertedModel } from '../../modules/rules/index.js';
import { divideModels } from './divide-models.js';

const model = (name: string, rules: number, aliases = 0): ConvertedModel => ({
  model: name,
  condition: name,
  rules: Array.from({ length: rules }, (_, n): PricingRule => ({ name, metric: 'm', priority: -n })),
  aliases: Array.from({ length: aliases }, () => ({ dimension: 'model', pattern: name, value: name })),
});
/** Returns each share as its rules by model, in the order of their first occurrence. */
const sharesOf = (models: readonly ConvertedModel[], currentPlaces?: ReadonlyMap<string, number>) =>
  divideModels(models, currentPlaces).map(({ rules }) => [...new Set(rules.map(({ name }) => name))]);

it('fills rule sets up to their bounds, each model as a whole', () => {
  expect(sharesOf([model('a', 300), model('b', 300), model('c', 200), model('d', 200)])).toEqual([
    ['a', 'c'],
    ['b', 'd'],
  ]);
  expect(sharesOf([model('a', 1, 600), model('b', 1, 600), model('c', 1, 400)])).toEqual([['a', 'c'], ['b']]);
});

it('leaves a model where it is while there is room, and says which rule sets had none', () => {
  const currentPlaces = new Map(Object.entries({ a: 2, b: 0, c: 0 }));
  const models = [model('b', 400), model('c', 200), model('a', 1), model('new', 50)];
  expect(sharesOf(models, currentPlaces)).toEqual([['b', 'new'], ['c'], ['a']]);
  expect(divideModels(models, currentPlaces).map(({ isOverfull }) => isOverfull)).toEqual([
    true,
    false,
    false,
  ]);
});

it('sorts the rules of a rule set by priority', () => {
  const [share] = divideModels([model('a', 3), model('b', 2)]);
  expect(share?.rules.map(({ priority }) => priority)).toEqual([-2, -1, -1, -0, -0]);
});

it('refuses a model that no rule set has room for', () => {
  expect(() => divideModels([model('a', 501)])).toThrow(
    'a has more prices than a pricing rule set has rules.',
  );
});
