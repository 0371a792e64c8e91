import { BACKTEST_EXAMPLES_MAX, BACKTEST_TOTALS_MAX, type UsageChargeItem } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { RatingComparison } from './comparison.js';
import type { RatingOutcome } from './outcome.js';

const item = (fields: Partial<UsageChargeItem> = {}): UsageChargeItem => ({
  extractor_name: 'tokens',
  metric: 'llm.tokens',
  unit: 'token',
  quantity: '10',
  unit_price: '0.1',
  amount: '1',
  discount: '0',
  currency: 'USD',
  source: 'extractor',
  pricing_source: 'extractor',
  rule_set_id: null,
  rule_set_version: null,
  rule_name: null,
  cumulative: null,
  cost: null,
  ...fields,
});
const rated = (...items: UsageChargeItem[]): RatingOutcome => ({ items, failure: null });
const failed = (code: string): RatingOutcome => ({ items: [], failure: { code, message: code, path: null } });

function compare(...events: [before: RatingOutcome, after: RatingOutcome][]) {
  const comparison = new RatingComparison();
  for (const [index, [before, after]] of events.entries()) {
    comparison.add({ id: index.toString(16).padStart(32, '0'), occurredAt: index, before, after });
  }
  return comparison.result();
}

describe('a comparison', () => {
  it('sums each metric, unit and currency exactly, before and after', () => {
    const huge = '12345678901234567890.000000000000000001';
    const result = compare(
      [rated(item()), rated(item({ amount: huge }))],
      [rated(item(), item({ unit: null })), rated(item({ amount: '-0.5' }), item({ currency: 'EUR' }))],
    );
    const none = { item_count: 0, quantity: '0', amount: '0', cost: '0' };
    const one = { item_count: 1, quantity: '10', amount: '1', cost: '0' };
    expect(result.totals).toEqual([
      { metric: 'llm.tokens', unit: null, currency: 'USD', before: one, after: none },
      { metric: 'llm.tokens', unit: 'token', currency: 'EUR', before: none, after: one },
      {
        metric: 'llm.tokens',
        unit: 'token',
        currency: 'USD',
        before: { item_count: 2, quantity: '20', amount: '2', cost: '0' },
        after: {
          item_count: 2,
          quantity: '20',
          amount: '12345678901234567889.500000000000000001',
          cost: '0',
        },
      },
    ]);
    expect(result).toMatchObject({ event_count: 2, changed_count: 2 });
  });

  it('sums costs by their own currency, and finds an event changed if a cost is', () => {
    const cost = (amount: string, currency: string, rule = 'a') =>
      item({ cost: { amount, currency, pricing_rule_set_id: null, version: null, rule } });
    const result = compare(
      [rated(item()), rated(cost('0.25', 'USD'))],
      [rated(cost('1', 'EUR')), rated(cost('1.5', 'EUR'))],
      [rated(cost('2', 'EUR')), rated(cost('2', 'EUR', 'b'))],
    );
    expect(result.totals).toMatchObject([
      { currency: 'EUR', before: { item_count: 0, cost: '3' }, after: { item_count: 0, cost: '3.5' } },
      { currency: 'USD', before: { item_count: 3, cost: '0' }, after: { item_count: 3, cost: '0.25' } },
    ]);
    expect(result).toMatchObject({ event_count: 3, changed_count: 2 });
  });

  it('finds no change in who priced an item, nor in the order of items', () => {
    const renamed = item({ rule_name: 'other', rule_set_version: 2, pricing_source: 'pricing_rule_set' });
    const other = item({ metric: 'llm.calls' });
    const result = compare(
      [rated(item()), rated(renamed)],
      [rated(item(), other), rated(other, item())],
      [failed('dimension_missing'), failed('dimension_missing')],
    );
    expect(result).toMatchObject({ changed_count: 0, examples: [] });
  });

  it('counts what would newly fail or succeed, by code', () => {
    const result = compare(
      [rated(item()), failed('pricing_failed')],
      [rated(item()), failed('pricing_failed')],
      [rated(), failed('dimension_missing')],
      [failed('quantity_negative'), rated(item())],
      [failed('quantity_negative'), failed('pricing_failed')],
    );
    expect(result).toMatchObject({
      event_count: 5,
      changed_count: 5,
      newly_failed: [
        { code: 'pricing_failed', count: 2 },
        { code: 'dimension_missing', count: 1 },
      ],
      newly_succeeded: [{ code: 'quantity_negative', count: 1 }],
    });
  });

  it('shows per currency the events that differ most, the earlier of equal ones, and last those of no amount', () => {
    const cost = (amount: string, currency = 'USD') => rated(item({ amount, currency }));
    const result = compare(
      ...Array.from({ length: 30 }, (_, i): [RatingOutcome, RatingOutcome] => [
        cost('0'),
        cost(String((i % 15) + 1)),
      ]),
      [cost('5', 'EUR'), cost('2', 'EUR')],
      [cost('1', 'EUR'), failed('pricing_failed')],
      [cost('5', 'EUR'), cost('5', 'USD')],
      [rated(item()), rated(item({ quantity: '11' }))],
    );
    const shown = result.examples.map(({ currency, amount_difference, occurred_at }) => [
      currency,
      amount_difference,
      occurred_at,
    ]);
    expect(shown.slice(0, 3)).toEqual([
      ['EUR', '-5', 32],
      ['EUR', '-3', 30],
      ['EUR', '-1', 31],
    ]);
    const usd = shown.filter(([currency]) => currency === 'USD');
    expect(usd).toHaveLength(BACKTEST_EXAMPLES_MAX);
    expect(usd.slice(0, 3)).toEqual([
      ['USD', '15', 14],
      ['USD', '15', 29],
      ['USD', '14', 13],
    ]);
    expect(shown.at(-1)).toEqual([null, '0', 33]);
    expect(result.examples[2]).toMatchObject({
      before: { charge_item_count: 1, failure: null },
      after: { charge_items: [], charge_item_count: 0, failure: { code: 'pricing_failed' } },
    });
  });

  it('is bounded: totals, currencies and the items of an example', () => {
    const many = Array.from({ length: BACKTEST_TOTALS_MAX + 5 }, (_, i) =>
      item({ metric: `m${i}`, currency: `C${i % 40}A` }),
    );
    const result = compare([rated(...many), rated()]);
    expect(result.totals).toHaveLength(BACKTEST_TOTALS_MAX);
    expect(result.cut_by).toEqual(['totals']);
    expect(result.examples).toHaveLength(10);
    expect(result.examples[0]?.before.charge_items).toHaveLength(50);
    expect(result.examples[0]?.before.charge_item_count).toBe(many.length);
  });
});
