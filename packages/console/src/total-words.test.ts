import { describe, expect, it } from 'vitest';
import { wordsOfTotal } from './total-words.js';

const item = { unit: 'min', currency: 'USD', amount: '-28' };
const total = {
  ...{
    counter: 'minutes',
    period: 'month',
    period_start: 1_793_491_200,
    per: 'subject',
    by: [],
    aggregate: 'sum',
  },
  ...{ expression: 'P', before: '40', after: '1052', price_before: '80', price_after: '52' },
};

describe('the words of a total', () => {
  it('say what changed, by how much, and in which counter', () => {
    expect(wordsOfTotal(total, item)).toEqual({
      totals: '40 min before, 1,052 after',
      prices: 'The total costs 80 USD before and 52 USD after: -28 USD',
      counter: 'Counter minutes of the subject, month from 1 Nov 2026, 00:00 UTC',
    });
  });

  it('name the dimensions, and what is counted if it is not the quantity', () => {
    const words = wordsOfTotal(
      { ...total, by: ['model', 'region'], aggregate: 'unique', per: 'account' },
      item,
    );
    expect(words.totals).toBe('40 distinct values before, 1,052 after');
    expect(words.counter).toMatch(/^Counter minutes of the account by model, region, month from/);
  });

  it('say less about a rule that is not found', () => {
    const unknown = {
      period: null,
      per: null,
      aggregate: null,
      expression: null,
      price_before: null,
      price_after: null,
    };
    expect(wordsOfTotal({ ...total, ...unknown }, { ...item, unit: null })).toEqual({
      totals: '40 before, 1,052 after',
      prices: undefined,
      counter: 'Counter minutes, period from 1 Nov 2026, 00:00 UTC',
    });
  });
});
