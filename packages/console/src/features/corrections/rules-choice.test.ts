import { expect, it } from 'vitest';
import { isCompleteChoice, PUBLISHED_RULES, rulesOf, withVersion } from './rules-choice.js';

const EXTRACTOR = { id: 'ers_1', version: 2 };
const PRICING = { id: 'prs_1', version: 3 };

it('names only the rules that were chosen', () => {
  expect(rulesOf(PUBLISHED_RULES)).toBeUndefined();
  expect(rulesOf({ ...PUBLISHED_RULES, extractor: EXTRACTOR })).toEqual({ extractor: EXTRACTOR });
  expect(rulesOf({ ...PUBLISHED_RULES, prices: 'none', pricing: [PRICING] })).toEqual({ pricing: [] });
  expect(rulesOf({ extractor: EXTRACTOR, prices: 'chosen', pricing: [PRICING] })).toEqual({
    extractor: EXTRACTOR,
    pricing: [PRICING],
  });
});

it('does not take chosen prices without a version for no prices', () => {
  expect(isCompleteChoice({ ...PUBLISHED_RULES, prices: 'chosen' })).toBe(false);
  expect(isCompleteChoice({ ...PUBLISHED_RULES, prices: 'chosen', pricing: [PRICING] })).toBe(true);
  expect(isCompleteChoice({ ...PUBLISHED_RULES, prices: 'none' })).toBe(true);
});

it('has one version of each rule set', () => {
  expect(withVersion([], 'a', 1)).toEqual([{ id: 'a', version: 1 }]);
  expect(
    withVersion(
      [
        { id: 'a', version: 1 },
        { id: 'b', version: 1 },
      ],
      'a',
      2,
    ),
  ).toEqual([
    { id: 'a', version: 2 },
    { id: 'b', version: 1 },
  ]);
  expect(withVersion([{ id: 'a', version: 1 }], 'a', undefined)).toEqual([]);
});
