import { expect, it } from 'vitest';
import { explainedRule } from './total-price.js';

const ITEM = {
  ...{ metric: 'llm.tokens', unit: 'token', quantity: '12', subject: undefined, occurredAt: 1_790_000_000 },
  dimensions: { model: 'gpt-5-2026', seats: '3' },
  dimensionTypes: [
    { name: 'model', type: 'string' as const },
    { name: 'seats', type: 'number' as const },
  ],
};
const ask = (
  expression: string,
  by: readonly string[] = [],
  more: Partial<Parameters<typeof explainedRule>[0]> = {},
) =>
  explainedRule({
    config: {},
    rule: { metric: 'llm.tokens' },
    item: ITEM,
    total: { expression, by, quantity: '52' },
    ...more,
  });

it('computes the price of a total, which is not the quantity of the charge item', () => {
  expect(ask('tier_volume(total.quantity, [[50, "2"], [null, "1"]])')).toEqual({
    aliases: [],
    totalPrice: '52',
  });
  expect(ask('total.quantity * dec(dimensions.seats)', ['seats']).totalPrice).toBe('156');
});

it('rounds it as it was rounded for the charge item', () => {
  expect(ask('dec_div(total.quantity, dec("3"), 30)').totalPrice).toBe('17.333333333333333333');
});

it('sees the values of the event, whatever aliases made the rule match', () => {
  const expression = 'dimensions.model == "gpt-5" ? dec("1") : dec("2")';
  const aliases = [{ dimension: 'model', pattern: 'gpt-5-*', value: 'gpt-5' }];
  const rule = { metric: 'llm.tokens', match_expr: 'dimensions.model == "gpt-5"' };
  const answer = ask(expression, ['model'], { config: { aliases }, rule });
  expect(answer).toMatchObject({ aliases: [{ from: 'gpt-5-2026' }], totalPrice: '2' });
});

it.each(['tier_volume(total.quantity, [[10, 1]])', 'item.quantity', 'dec("1e30")', 'dec(dimensions.none)'])(
  'is not known if it cannot be computed: %s',
  (expression) => expect(ask(expression, ['none']).totalPrice).toBeNull(),
);

it('is not asked for without a total', () => {
  const { config, rule, item } = { config: {}, rule: { metric: 'llm.tokens' }, item: ITEM };
  expect(explainedRule({ config, rule, item })).toEqual({ aliases: [], totalPrice: null });
});
