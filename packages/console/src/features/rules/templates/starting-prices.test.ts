import type { ExtractorTemplate } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { isPrice, metricsOf, startingPrices } from './starting-prices.js';

it('names each metric of a template once', () => {
  const template = {
    charge_item_extractors: [
      { name: 'Input', metric: 'tokens', path: 'a', type: 'number', unit: 'token' },
      { name: 'Tool input', metric: 'tokens', path: 'b', type: 'number', unit: 'token' },
      { metric: 'seconds', path: 'c', type: 'number' },
    ],
  } as unknown as ExtractorTemplate;
  expect(metricsOf(template)).toEqual([
    { metric: 'tokens', unit: 'token', name: 'Input' },
    { metric: 'seconds', unit: 'unit', name: 'seconds' },
  ]);
});

describe('isPrice', () => {
  it.each(['0', '1', '0.000003', '12.50', '99999999999999999999'])('takes %s', (text) => {
    expect(isPrice(text)).toBe(true);
  });
  it.each(['', '-1', '1e-6', '.5', '1.', '01', '1,5', '1")', '0.1234567890123456789'])(
    'refuses %j',
    (text) => {
      expect(isPrice(text)).toBe(false);
    },
  );
});

describe('startingPrices', () => {
  it('prices what has a price', () => {
    const prices = new Map([
      ['tokens', '0.000003'],
      ['seconds', ''],
    ]);
    expect(startingPrices('ers_1', prices, 'EUR')).toEqual({
      extractor_rule_set_id: 'ers_1',
      name: 'Prices',
      effective_from: 0,
      currency: 'EUR',
      rules: [{ name: 'tokens', metric: 'tokens', unit_price_expr: 'dec("0.000003")' }],
    });
  });

  it('makes nothing of no price at all', () => {
    expect(startingPrices('ers_1', new Map([['tokens', '']]), 'USD')).toBeUndefined();
  });
});
