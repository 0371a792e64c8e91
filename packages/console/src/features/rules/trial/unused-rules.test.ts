import type { UsageChargeItem } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { unusedExtractors, unusedPricingRules } from './unused-rules.js';

function item(change: Partial<UsageChargeItem>): UsageChargeItem {
  return {
    extractor_name: null,
    metric: 'tokens',
    unit: null,
    quantity: '1',
    unit_price: null,
    amount: '0',
    discount: '0',
    currency: null,
    source: 'extractor',
    pricing_source: 'unpriced',
    rule_set_id: null,
    rule_set_version: null,
    rule_name: null,
    cumulative: null,
    cost: null,
    ...change,
  };
}
const pricedBy = (rule_name: string, metric = 'tokens') =>
  item({ metric, pricing_source: 'pricing_rule_set', rule_name });

describe('unusedExtractors', () => {
  const body = {
    charge_item_extractors: [
      { name: 'In', metric: 'tokens.in', path: 'usage.in', type: 'number' },
      { metric: 'tokens.out', path: 'usage.out', type: 'number' },
    ],
  };

  it('says where there was nothing', () => {
    expect(unusedExtractors(body, [item({ extractor_name: 'In' })])).toEqual([
      { name: 'tokens.out', reason: 'usage.out is missing' },
    ]);
  });

  it('names every place that was looked at', () => {
    const added = { metric: 'm', sum_paths: ['a[*].n', 'b'] };
    const at = (entry: object) => unusedExtractors({ charge_item_extractors: [entry] }, [])[0]?.reason;
    expect(at(added)).toBe('a[*].n, b is missing');
    expect(at({ ...added, path: 'n' })).toBe('n, a[*].n, b is missing');
  });

  it('shows items that the event brought itself', () => {
    const brought = item({ metric: 'tokens.out', source: 'x_billing' });
    expect(unusedExtractors(body, [item({ extractor_name: 'In' }), brought])).toEqual([
      { name: 'tokens.out', reason: expect.stringContaining('x-billing') },
    ]);
  });

  it.each([undefined, null, 3, {}, { charge_item_extractors: 'x' }])('says nothing of %j', (nothing) => {
    expect(unusedExtractors(nothing, [])).toEqual([]);
  });
});

describe('unusedPricingRules', () => {
  it('says why each rule gave no price, in the order in which they are tried', () => {
    const body = {
      rules: [
        { name: 'last', metric: 'tokens', priority: 9 },
        { name: 'chosen', metric: 'tokens', priority: 5 },
        { name: 'picky', metric: 'tokens', match_expr: 'dimensions.model == "x"' },
        { name: 'other', metric: 'seconds' },
      ],
    };
    expect(unusedPricingRules(body, [pricedBy('chosen')])).toEqual([
      { name: 'picky', reason: 'condition is false: dimensions.model == "x"' },
      { name: 'other', reason: 'the event has no charge item for seconds' },
      { name: 'last', reason: 'not tried: chosen matches first' },
    ]);
  });

  it('has asked every rule for an item that stayed unpriced', () => {
    const body = { rules: [{ name: 'picky', metric: 'tokens', match_expr: 'false' }] };
    expect(unusedPricingRules(body, [item({})])).toEqual([
      { name: 'picky', reason: 'condition is false: false' },
    ]);
  });

  it.each([
    ['hint', 'a price in the event takes precedence'],
    ['extractor', 'a price in the extractor takes precedence'],
  ] as const)('says what goes before every rule: %s', (pricing_source, reason) => {
    const body = { rules: [{ name: 'rule', metric: 'tokens' }] };
    expect(unusedPricingRules(body, [item({ pricing_source })])).toEqual([{ name: 'rule', reason }]);
  });

  it('knows rules without a name by their metric or their place', () => {
    const body = { rules: [{ metric: 'tokens' }, { metric: 'tokens' }, { metric: 'seconds' }] };
    const items = [pricedBy('rules[1]'), pricedBy('seconds', 'seconds')];
    expect(unusedPricingRules(body, items).map(({ name }) => name)).toEqual(['rules[0]']);
  });
});

describe('unusedPricingRules of costs', () => {
  it('sees the rules that gave costs, whatever priced the items', () => {
    const body = {
      purpose: 'cost',
      rules: [
        { name: 'never', metric: 'tokens', match_expr: 'false' },
        { name: 'all', metric: 'tokens' },
        { name: 'calls', metric: 'calls' },
      ],
    };
    const cost = { amount: '1', currency: 'USD', pricing_rule_set_id: null, version: null, rule: 'all' };
    expect(unusedPricingRules(body, [item({ pricing_source: 'extractor', cost })])).toEqual([
      { name: 'never', reason: 'condition is false: false' },
      { name: 'calls', reason: 'the event has no charge item for calls' },
    ]);
  });
});
