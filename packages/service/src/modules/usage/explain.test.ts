import type { ExtractorConfig, UsageChargeItem, UsageEvent } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { explainEvent } from './explain.js';

const config: ExtractorConfig = {
  charge_item_extractors: [
    {
      name: 'in',
      metric: 'llm.tokens',
      path: 'usage.prompt_tokens',
      type: 'number',
      unit_price_expr: 'dec("0.001")',
    },
    { name: 'out', metric: 'llm.tokens', path: 'usage.completion_tokens', type: 'number' },
    {
      metric: 'llm.calls',
      path: 'calls',
      type: 'decimal_string',
      unit_price_expr: 'dec("1")',
      amount_expr: 'dec("5")',
    },
  ],
};

const item: UsageChargeItem = {
  extractor_name: 'in',
  metric: 'llm.tokens',
  unit: 'token',
  quantity: '10',
  unit_price: '0.001',
  amount: '0.01',
  discount: '0',
  currency: 'USD',
  source: 'extractor',
  pricing_source: 'extractor',
  rule_set_id: null,
  rule_set_version: null,
  rule_name: null,
};

function explain(fields: Partial<UsageChargeItem>, rules: ExtractorConfig | undefined = config) {
  const event = {
    extractor_rule_set_id: 'ers_1',
    extractor_version: 3,
    charge_items: [{ ...item, ...fields }],
  } as UsageEvent;
  return explainEvent(event, { name: 'LLM', config: rules });
}

describe('explainEvent', () => {
  it('leads from the path over the unit price to the amount', () => {
    expect(explain({})).toEqual({
      extractor: { rule_set_id: 'ers_1', version: 3, name: 'LLM' },
      charge_items: [
        {
          metric: 'llm.tokens',
          quantity: {
            value: '10',
            source: 'extractor',
            extractor_name: 'in',
            path: 'usage.prompt_tokens',
            type: 'number',
          },
          unit_price: { value: '0.001', expression: 'dec("0.001")' },
          amount: {
            value: '0.01',
            currency: 'USD',
            expression: 'dec_mul(item.quantity, item.unit_price)',
          },
          priced_by: {
            pricing_source: 'extractor',
            rule_set_id: null,
            rule_set_version: null,
            rule_name: null,
          },
        },
      ],
    });
  });

  it('finds an extractor without a name by its metric', () => {
    const [explained] = explain({ extractor_name: null, metric: 'llm.calls' }).charge_items;
    expect(explained).toMatchObject({
      quantity: { path: 'calls', type: 'decimal_string' },
      amount: { expression: 'dec("5")' },
    });
  });

  it('says nothing where two extractors could be meant', () => {
    const [explained] = explain({ extractor_name: null }).charge_items;
    expect(explained?.quantity.path).toBeNull();
  });

  it('has no expressions for what the extractor did not price', () => {
    const [explained] = explain({ pricing_source: 'unpriced', unit_price: null, amount: '0' }).charge_items;
    expect(explained).toMatchObject({
      quantity: { path: 'usage.prompt_tokens' },
      unit_price: { value: null, expression: null },
      amount: { value: '0', expression: null },
    });
  });

  it('finds what priced a quantity that was sent beside the raw JSON, though it read none', () => {
    const [explained] = explain({
      source: 'x_billing',
      extractor_name: null,
      rule_name: 'in',
    }).charge_items;
    expect(explained?.quantity).toMatchObject({ path: null, extractor_name: null });
    expect(explained?.unit_price.expression).toBe('dec("0.001")');
  });

  it('has no path for a quantity that was sent beside the raw JSON', () => {
    const [explained] = explain({ source: 'x_billing', extractor_name: null }).charge_items;
    expect(explained?.quantity).toMatchObject({ path: null, type: null, source: 'x_billing' });
  });
});
