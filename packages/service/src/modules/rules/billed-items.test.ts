import { describe, expect, it } from 'vitest';
import { NumericText } from '../../kernel/json/json.js';
import type { RatedEvent } from './rate.js';
import type { BilledItem } from './rating-input.js';
import { failureOf, items, itemsOf, rate } from './testing.js';

const CONFIG = items(
  { name: 'First', unit: 'token', unit_price_expr: 'dec("0.5")', currency: 'EUR' },
  { name: 'Second', path: 'second', unit_price_expr: 'dec("9")' },
  { metric: 'calls', path: 'calls' },
);

const rateBilled = (rawJson: string, ...billedItems: BilledItem[]): RatedEvent =>
  rate(CONFIG, rawJson, { billing: { items: billedItems } });

describe('an item of x-billing', () => {
  it('is the source of truth for its metric, and priced by the first extractor of it', () => {
    const rated = rateBilled('{"n": 7, "second": 8, "calls": 1}', { metric: 'tokens', quantity: 3 });
    expect(itemsOf(rated)).toEqual([
      expect.objectContaining({ metric: 'calls', source: 'extractor', quantity: '1' }),
      {
        extractorName: '',
        metric: 'tokens',
        unit: 'token',
        quantity: '3',
        unitPrice: '0.5',
        amount: '1.5',
        discount: '0',
        currency: 'EUR',
        source: 'x_billing',
        pricingSource: 'extractor',
        ruleSetId: 'ers_1',
        ruleSetVersion: 3,
        ruleName: 'First',
        cumulative: '',
        cost: null,
      },
    ]);
  });

  it('is unpriced where no extractor has its metric, and keeps its unit', () => {
    const [item] = itemsOf(rateBilled('{}', { metric: 'storage', quantity: '2', unit: 'GB' }));
    expect(item).toMatchObject({
      metric: 'storage',
      unit: 'GB',
      quantity: '2',
      amount: '0',
      currency: '',
      source: 'x_billing',
      pricingSource: 'unpriced',
      ruleName: '',
      cumulative: '',
    });
  });

  it('keeps the digits that were sent', () => {
    const quantity = new NumericText('12345678901234567890.5');
    expect(itemsOf(rateBilled('{}', { metric: 'storage', quantity }))).toMatchObject([
      { quantity: '12345678901234567890.5' },
    ]);
  });

  it('may share its metric with another one', () => {
    const rated = rateBilled('{}', { metric: 'calls', quantity: 1 }, { metric: 'calls', quantity: '0' });
    expect(itemsOf(rated)).toMatchObject([{ quantity: '1' }, { quantity: '0' }]);
  });

  it('replaces a quantity that could not be read', () => {
    expect(itemsOf(rateBilled('{"n": "many"}', { metric: 'tokens', quantity: 1 }))).toHaveLength(1);
  });

  it.each([
    ['-1', 'quantity_negative'],
    ['100000000000000000000', 'decimal_out_of_range'],
    ['1e999999', 'decimal_out_of_range'],
  ])('of %s fails the event', (quantity, code) => {
    const rated = rateBilled('{}', { metric: 'calls', quantity: 1 }, { metric: 'tokens', quantity });
    expect(failureOf(rated)).toEqual([code, 'x-billing.items[1].quantity']);
  });

  it('fails the event where its price cannot be recorded', () => {
    const rated = rate(items({ unit_price_expr: 'dec("99999999999999999999")' }), '{}', {
      billing: { items: [{ metric: 'tokens', quantity: 2 }] },
    });
    expect(failureOf(rated)).toEqual(['decimal_out_of_range', 'charge_item_extractors[0]']);
  });
});
