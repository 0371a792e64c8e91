import type { PricingRule } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { compilePricing } from './pricing/index.js';
import { items, itemsOf, pricingOf, rate } from './testing.js';

const rule = (fields: Partial<PricingRule> = {}): PricingRule => ({
  metric: 'tokens',
  unit_price_expr: 'dec("2")',
  ...fields,
});

describe('a pricing unit', () => {
  const rated = (fields: Partial<PricingRule>) =>
    itemsOf(rate(items({}), '{"n": 3}', {}, [pricingOf({ rules: [rule(fields)] })]))[0];

  it.each<[string, Partial<PricingRule>, object]>([
    [
      'a million',
      { unit_price_expr: 'dec("0.25")', pricing_unit: '1000000' },
      { unitPrice: '0.00000025', amount: '0.00000075' },
    ],
    [
      'a number',
      { unit_price_expr: 'dec("0.25")', pricing_unit: 1000 },
      { unitPrice: '0.00025', amount: '0.00075' },
    ],
    ['one', { unit_price_expr: 'dec("0.25")', pricing_unit: '1' }, { unitPrice: '0.25', amount: '0.75' }],
    // Rounding the price of one unit first would give 0.999999999999999999.
    [
      'three, rounded once',
      { unit_price_expr: 'dec("1")', pricing_unit: '3' },
      { unitPrice: '0.333333333333333333', amount: '1' },
    ],
    ['a fraction', { unit_price_expr: 'dec("1")', pricing_unit: '0.5' }, { unitPrice: '2', amount: '6' }],
    [
      'an amount of its own, which sees the price of one unit',
      { unit_price_expr: 'dec("5")', pricing_unit: '1000', amount_expr: 'item.unit_price + item.quantity' },
      { unitPrice: '0.005', amount: '3.005' },
    ],
    [
      'a computed price',
      { unit_price_expr: 'item.quantity > dec("2") ? dec("4") : dec("5")', pricing_unit: '1000' },
      { unitPrice: '0.004', amount: '0.012' },
    ],
  ])('of %s', (_name, fields, expected) => {
    expect(rated(fields)).toMatchObject(expected);
  });

  it('is that of the pricing that an extractor carries, too', () => {
    const item = { unit_price_expr: 'dec("0.25")', pricing_unit: '1000000' };
    expect(itemsOf(rate(items(item), '{"n": 3}'))[0]).toMatchObject({
      unitPrice: '0.00000025',
      amount: '0.00000075',
    });
  });

  it.each(['0', '-1', 'x', '0.0000000000000000001', '123456789012345678901'])(
    'of %s is refused where it stands',
    (pricing_unit) => {
      expect(compilePricing({ rules: [rule(), rule({ pricing_unit })] })).toMatchObject({
        ok: false,
        issues: [{ path: 'rules[1].pricing_unit', message: expect.stringContaining('a decimal above 0') }],
      });
    },
  );

  it('needs a unit price', () => {
    const amountOnly: PricingRule = { metric: 'tokens', amount_expr: 'item.quantity', pricing_unit: '10' };
    expect(compilePricing({ rules: [amountOnly] })).toMatchObject({
      issues: [{ path: 'rules[0].pricing_unit', message: expect.stringContaining('needs unit_price_expr') }],
    });
  });
});
