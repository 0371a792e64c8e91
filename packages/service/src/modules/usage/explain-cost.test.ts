import { expect, it } from 'vitest';
import { explainCost } from './explain-cost.js';
import type { ItemForRules } from './explain-rule.js';

const COST = { amount: '0.5', currency: 'EUR', pricing_rule_set_id: 'prs_cost', version: 2, rule: 'small' };
const ITEM: ItemForRules = {
  ...{ metric: 'llm.tokens', unit: 'token', quantity: '10', dimensions: { model: 'm-1' } },
  ...{ dimensionTypes: [], subject: undefined, occurredAt: 0 },
};
const SHOWN = { value: '0.5', currency: 'EUR', pricing_rule_set_id: 'prs_cost', version: 2, rule: 'small' };

it('explains a cost by the rule of its name, with the aliases by which it matched', () => {
  const aliases = [{ dimension: 'model', pattern: 'm-*', value: 'm' }];
  const applied = aliases.map((alias) => ({ ...alias, from: 'm-1' }));
  const rules = [
    { name: 'large', metric: 'llm.tokens', amount_expr: 'dec("9")' },
    {
      ...{ name: 'small', metric: 'llm.tokens', priority: 7, match_expr: 'dimensions.model == "m"' },
      ...{ unit_price_expr: 'dec("50")', pricing_unit: '1000' },
    },
  ];
  expect(
    explainCost(COST, ITEM, {
      config: { rules, aliases },
      answerRule: () => ({ aliases: applied, totalPrice: null }),
    }),
  ).toEqual({
    ...SHOWN,
    ...{ expression: null, unit_price_expression: 'dec("50")', pricing_unit: '1000' },
    ...{ match_expr: 'dimensions.model == "m"', priority: 7, aliases: applied },
  });
});

it('shows what is recorded where the rule is not known', () => {
  expect(
    explainCost(COST, ITEM, { config: undefined, answerRule: () => ({ aliases: [], totalPrice: null }) }),
  ).toEqual({
    ...SHOWN,
    ...{ expression: null, unit_price_expression: null, pricing_unit: null },
    ...{ match_expr: null, priority: null, aliases: [] },
  });
});
