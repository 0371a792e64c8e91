import type { PricingRule, UsageChargeItem } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { explainItem, type RatedBy } from './explain.js';

const TOTALS = { counter: 'tokens', period_start: 1_789_000_000, before: '40', after: '52' };
const ITEM: UsageChargeItem = {
  ...{ extractor_name: 'in', metric: 'llm.tokens', unit: 'token', quantity: '12', source: 'extractor' },
  ...{ unit_price: null, amount: '-20', discount: '-8', currency: 'USD', cumulative: TOTALS, cost: null },
  ...{ pricing_source: 'pricing_rule_set', rule_set_id: 'prs_1', rule_set_version: 2, rule_name: 'a' },
};
const RULE: PricingRule = {
  name: 'a',
  metric: 'llm.tokens',
  cumulative: { counter: 'tokens', period: 'month', per: 'subject', by: ['model'] },
  total_expr: 'P',
};

function explained(ratedBy: Partial<RatedBy>, item = ITEM) {
  const event = { dimensions: {}, subject_type: null, subject_id: null, occurred_at: 1_790_000_000 };
  return explainItem(item, event, {
    ...{ extractor: undefined, pricing: () => ({ rules: [RULE] }), billing: undefined },
    answerRule: () => expect.unreachable(),
    ...ratedBy,
  });
}

it('shows the total before and after a charge item, and both prices', () => {
  const asked: unknown[] = [];
  const { total, amount } = explained({
    answerRule: (question) => {
      asked.push(question.total);
      return { aliases: [], totalPrice: '52' };
    },
  });
  expect(asked).toEqual([{ expression: 'P', by: ['model'], quantity: '52' }]);
  expect(total).toEqual({
    ...TOTALS,
    ...{ period: 'month', per: 'subject', by: ['model'], aggregate: 'sum', expression: 'P' },
    ...{ price_before: '80', price_after: '52' },
  });
  expect(amount).toMatchObject({ expression: null, before_discount: '-28' });
});

it('shows the expression without prices if they cannot be computed', () => {
  const { total } = explained({ answerRule: () => ({ aliases: [], totalPrice: null }) });
  expect(total).toMatchObject({ expression: 'P', price_before: null, price_after: null });
});

it('shows the record alone if the rule is not found', () => {
  expect(explained({ pricing: () => undefined }).total).toEqual({
    ...TOTALS,
    ...{ period: null, per: null, by: [], aggregate: null, expression: null },
    ...{ price_before: null, price_after: null },
  });
});

it('shows no total of a charge item that has none, and asks nothing', () => {
  expect(explained({}, { ...ITEM, cumulative: null }).total).toBeNull();
});
