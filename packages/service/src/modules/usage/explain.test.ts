import type { ExtractorConfig, PricingRule, UsageChargeItem, UsageEvent } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { NumericText } from '../../kernel/json/json.js';
import { explainEvent, explainEventWith, type RatedBy } from './explain.js';

const config: ExtractorConfig = {
  charge_item_extractors: [
    {
      name: 'in',
      metric: 'llm.tokens',
      path: 'usage.prompt_tokens',
      less_paths: ['usage.cached_tokens'],
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
  cumulative: null,
  cost: null,
};

const rule = (fields: Partial<PricingRule> = {}): PricingRule => ({
  metric: 'llm.tokens',
  unit_price_expr: 'dec("1")',
  ...fields,
});

function explain(fields: Partial<UsageChargeItem>, ratedBy: Partial<RatedBy> = {}) {
  const event = {
    extractor_rule_set_id: 'ers_1',
    extractor_version: 3,
    dimensions: { model: 'gpt-5-mini-2025-08-07' },
    subject_type: null,
    subject_id: null,
    occurred_at: 1_790_000_000,
    charge_items: [{ ...item, ...fields }],
  } as object as UsageEvent;
  return explainEvent(event, {
    extractor: { name: 'LLM', config },
    pricing: () => undefined,
    billing: undefined,
    answerRule: () => ({ aliases: [], totalPrice: null }),
    ...ratedBy,
  });
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
            less_paths: ['usage.cached_tokens'],
            sum_paths: [],
            type: 'number',
          },
          unit_price: { value: '0.001', expression: 'dec("0.001")', pricing_unit: null },
          amount: {
            value: '0.01',
            currency: 'USD',
            expression: 'dec_mul(item.quantity, item.unit_price)',
            before_discount: '0.01',
          },
          total: null,
          discount: null,
          priced_by: {
            pricing_source: 'extractor',
            rule_set_id: null,
            rule_set_version: null,
            rule_name: null,
            match_expr: null,
            priority: null,
            aliases: [],
            hint: null,
          },
          cost: null,
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

  it('finds what priced a quantity that was sent outside of the raw JSON, though it read none', () => {
    const [explained] = explain({
      source: 'x_billing',
      extractor_name: null,
      rule_name: 'in',
    }).charge_items;
    expect(explained?.quantity).toMatchObject({ path: null, less_paths: [], extractor_name: null });
    expect(explained?.unit_price.expression).toBe('dec("0.001")');
  });

  it('has no path for a quantity that was sent outside of the raw JSON', () => {
    const [explained] = explain({ source: 'x_billing', extractor_name: null }).charge_items;
    expect(explained?.quantity).toMatchObject({ path: null, type: null, source: 'x_billing' });
  });
});

describe('a pricing rule', () => {
  const byRule = (rule_name: string, rules: readonly PricingRule[]) => {
    const fields = { pricing_source: 'pricing_rule_set', rule_set_id: 'prs_1', rule_set_version: 2 } as const;
    const pricing = (id: string | null, version: number | null) =>
      id === 'prs_1' && version === 2 ? { rules: [...rules] } : undefined;
    return explain({ ...fields, rule_name }, { pricing }).charge_items[0];
  };

  it('is shown with the aliases by which it was found', () => {
    const rules = [rule({ name: 'a', match_expr: 'dimensions.model == "gpt-5-mini"' })];
    const found = [
      { dimension: 'model', from: 'gpt-5-mini-2025-08-07', pattern: 'gpt-5-*', value: 'gpt-5-mini' },
    ];
    const aliases = [{ dimension: 'model', pattern: 'gpt-5-*', value: 'gpt-5-mini' }];
    const seen: unknown[] = [];
    const explained = explain(
      { pricing_source: 'pricing_rule_set', rule_set_id: 'prs_1', rule_set_version: 2, rule_name: 'a' },
      {
        pricing: () => ({ rules, aliases }),
        answerRule: (question) => {
          seen.push(question.item);
          return { aliases: found, totalPrice: null };
        },
      },
    );
    expect(explained.charge_items[0]?.priced_by.aliases).toEqual(found);
    expect(seen).toMatchObject([{ metric: 'llm.tokens', dimensions: { model: 'gpt-5-mini-2025-08-07' } }]);
  });

  it('is shown with what was found of aliases at once, each in its place, and nothing is asked where there are none', async () => {
    const aliases = [{ dimension: 'model', pattern: '*', value: 'x' }];
    const rules = ['a', 'b', 'c'].map((name) =>
      rule({ name, ...(name === 'b' ? {} : { match_expr: `dimensions.model == "${name}"` }) }),
    );
    const items = rules.map(({ name = '' }) => ({
      ...item,
      pricing_source: 'pricing_rule_set' as const,
      rule_set_id: 'prs_1',
      rule_set_version: 2,
      rule_name: name,
    }));
    const event = { dimensions: {}, charge_items: items } as object as UsageEvent;
    const ratedBy = { extractor: { name: null, config }, billing: undefined };
    const explained = await explainEventWith(
      event,
      { ...ratedBy, pricing: () => ({ rules, aliases }) },
      async (questions) =>
        questions.map(({ rule: { match_expr: from = '' } }) => ({
          aliases: [{ dimension: 'model', from, pattern: '*', value: 'x' }],
          totalPrice: null,
        })),
    );
    expect(explained.charge_items.map(({ priced_by }) => priced_by.aliases.map(({ from }) => from))).toEqual([
      ['dimensions.model == "a"'],
      [],
      ['dimensions.model == "c"'],
    ]);
    await explainEventWith(event, { ...ratedBy, pricing: () => ({ rules }) }, () => expect.unreachable());
  });

  it('is shown with the units of its price, which the amount is divided by', () => {
    expect(byRule('llm.tokens', [rule({ pricing_unit: '1000000' })])).toMatchObject({
      unit_price: { expression: 'dec("1")', pricing_unit: '1000000' },
      amount: { expression: null },
    });
  });

  it('is shown with its match, priority and expressions', () => {
    const named = rule({ name: 'a', priority: -3, match_expr: 'true', amount_expr: 'item.quantity' });
    expect(byRule('a', [rule(), named])).toMatchObject({
      quantity: { path: 'usage.prompt_tokens' },
      unit_price: { expression: 'dec("1")' },
      amount: { expression: 'item.quantity' },
      priced_by: {
        pricing_source: 'pricing_rule_set',
        rule_set_id: 'prs_1',
        rule_set_version: 2,
        rule_name: 'a',
        match_expr: 'true',
        priority: -3,
      },
    });
  });

  it('has a default priority, and an amount by quantity and unit price', () => {
    expect(byRule('llm.tokens', [rule()])).toMatchObject({
      amount: { expression: 'dec_mul(item.quantity, item.unit_price)' },
      priced_by: { match_expr: null, priority: 0 },
    });
  });

  it('is found by its own name, its place or its metric', () => {
    const rules = [rule({ metric: 'other' }), rule(), rule({ name: 'llm.tokens' }), rule({ metric: 'rest' })];
    const texts = rules.map((each, index) => ({ ...each, match_expr: `${index} == 0` }));
    const matchOf = (name: string) => byRule(name, texts)?.priced_by.match_expr;
    expect(['rules[1]', 'llm.tokens'].map(matchOf)).toEqual(['1 == 0', '2 == 0']);
  });
});

describe('what the client asked for', () => {
  const constructorItem = { metric: 'constructor', pricing_source: 'hint', amount: '1.5' } as const;

  it('shows the hint that priced the item, digit by digit', () => {
    const billing = {
      pricing_hints: {
        constructor: {
          unit_price: new NumericText('1.00000000000000000010'),
          pricing_unit: 1e6,
          currency: 'EUR',
        },
      },
    };
    const [explained] = explain(constructorItem, { billing }).charge_items;
    expect(explained).toMatchObject({
      unit_price: { expression: null },
      amount: { expression: null },
      priced_by: { hint: { unit_price: '1.0000000000000000001', pricing_unit: '1000000', currency: 'EUR' } },
    });
  });

  it('shows a hint as it is without unit and currency, and none where there is none', () => {
    const billing = { pricing_hints: { constructor: { unit_price: '2' } } };
    const hintIn = (sent: unknown, fields: Partial<UsageChargeItem> = constructorItem) =>
      explain(fields, { billing: sent }).charge_items[0]?.priced_by.hint;
    expect(hintIn(billing)).toEqual({ unit_price: '2', pricing_unit: '1', currency: null });
    expect(hintIn({ pricing_hints: {} })).toBeNull();
    expect(hintIn(undefined)).toBeNull();
    expect(hintIn(billing, { metric: 'constructor', pricing_source: 'unpriced' })).toBeNull();
  });

  it('shows the discount, and the amount before it', () => {
    const billing = { discount_hints: { 'llm.tokens': { percent: '12.50' }, other: { amount: 3 } } };
    const discounted = (metric: string) =>
      explain({ metric, amount: '0.875', discount: '0.125' }, { billing }).charge_items[0];
    expect(discounted('llm.tokens')).toMatchObject({
      amount: { value: '0.875', before_discount: '1' },
      discount: { value: '0.125', percent: '12.5', amount: null },
    });
    expect(discounted('other')?.discount).toEqual({ value: '0.125', percent: null, amount: '3' });
    expect(discounted('constructor')?.discount).toBeNull();
  });
});
