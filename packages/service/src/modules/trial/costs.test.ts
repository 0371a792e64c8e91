import { afterAll, beforeAll, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import {
  createTestClickHouse,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { createTestTrial, EXTRACTOR, PRICING, type TestTrial } from './trial.testing.js';

const cost = (amount: string) => ({
  purpose: 'cost',
  currency: 'USD',
  rules: [{ name: 'tokens', metric: 'llm.tokens', unit_price_expr: `dec("${amount}")` }],
});
const EVENT = { raw_json: { model: 'large', tokens: 100 }, occurred_at: TEST_NOW_S };

let store: TestClickHouse;
let trial: TestTrial;
let extractorId: string;
let priceId: string;
let costId: string;

beforeAll(async () => {
  store = await createTestClickHouse();
  trial = await createTestTrial(store.clickhouse);
  extractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
  await trial.publish('extractor', extractorId);
  const bound = { extractor_rule_set_id: extractorId, effective_from: 0 };
  priceId = await trial.makeRuleSet('pricing', { ...bound, ...PRICING });
  costId = await trial.makeRuleSet('pricing', { ...bound, ...cost('0.01') });
  for (const id of [priceId, costId]) await trial.publish('pricing', id);
});
afterAll(async () => {
  await trial?.close();
  await store?.drop();
});

async function tried(body: object) {
  const answer = await trial.post('/rules/test', {
    extractor_rule_set_id: extractorId,
    event: EVENT,
    ...body,
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}

it('tests prices with the costs of production, and costs with its prices', async () => {
  const production = {
    amount: '3',
    cost: { amount: '1', currency: 'USD', pricing_rule_set_id: costId, version: 1 },
  };
  expect((await tried({})).charge_items).toMatchObject([production]);
  const unpriced = await tried({ pricing: { rules: [] } });
  expect(unpriced.charge_items).toMatchObject([{ amount: '0', cost: production.cost }]);
  expect(unpriced.unpriced).toMatchObject([{ metric: 'llm.tokens', nearest_rules: [], priced_metrics: [] }]);
  const sent = await tried({ pricing: cost('0.5') });
  expect(sent.charge_items).toMatchObject([
    { amount: '3', cost: { amount: '50', pricing_rule_set_id: null, version: null, rule: 'tokens' } },
  ]);
  const none = await tried({ pricing: { purpose: 'cost', rules: [] } });
  expect(none.charge_items).toMatchObject([{ amount: '3', cost: null }]);
  const named = await tried({ pricing_rule_set_id: costId });
  expect(named.charge_items).toMatchObject([production]);
});

it('explains a cost by its rule, and says why there is none', async () => {
  const { explanation } = await tried({ pricing: { ...cost('0.5'), aliases: [] } });
  expect(explanation).toMatchObject([
    {
      priced_by: { rule_name: 'large', rule_set_id: priceId },
      cost: {
        value: '50',
        currency: 'USD',
        expression: 'dec_mul(item.quantity, item.unit_price)',
        unit_price_expression: 'dec("0.5")',
        pricing_unit: null,
        pricing_rule_set_id: null,
        rule: 'tokens',
        match_expr: null,
        priority: 0,
        aliases: [],
      },
    },
  ]);
  const failed = await tried({
    pricing: { ...cost('0.5'), rules: [{ metric: 'llm.tokens', amount_expr: 'dec(dimensions.none)' }] },
  });
  expect(failed).toMatchObject({
    charge_items: [{ amount: '3', cost: null }],
    explanation: [{ cost: null }],
    notes: [{ code: 'cost_failed', metric: 'llm.tokens', path: 'rules[0].amount_expr' }],
    errors: [],
  });
});

it('finds unpriced items without asking the cost rules', async () => {
  const bound = {
    pricing: { rules: [{ metric: 'llm.tokens', match_expr: 'false', amount_expr: 'dec("1")' }] },
  };
  expect((await tried(bound)).unpriced).toMatchObject([{ nearest_rules: [{ rule_set_id: null }] }]);
});

it('backtests costs on what was recorded', async () => {
  const recorded = {
    amount: stored('1'),
    ...{ currency: 'USD', ruleSetId: costId, ruleSetVersion: 1, ruleName: 'tokens' },
  };
  const priced = {
    ...{ metric: 'llm.tokens', quantity: stored('100'), unitPrice: stored('0.03'), amount: stored('3') },
    pricingSource: 'pricing_rule_set' as const,
  };
  await insertUsageRows(store.clickhouse, [
    usageRow({
      ...{ tenantId: trial.tenantId, projectId: trial.projectId, extractorRuleSetId: extractorId },
      ...{ occurredAt: TEST_NOW_S - 50, rawJson: JSON.stringify(EVENT.raw_json) },
      items: [usageItem({ ...priced, cost: recorded })],
    }),
  ]);
  const backtest = async (body: object) => {
    const time_range = { from: TEST_NOW_S - 100, to: TEST_NOW_S };
    const answer = await trial.post('/rules/backtest', {
      extractor_rule_set_id: extractorId,
      time_range,
      ...body,
    });
    expect(answer.status, answer.text).toBe(200);
    return answer.json().result;
  };
  expect(await backtest({})).toMatchObject({
    changed_count: 0,
    totals: [{ before: { amount: '3', cost: '1' }, after: { amount: '3', cost: '1' } }],
  });
  expect(await backtest({ pricing: cost('0.02') })).toMatchObject({
    changed_count: 1,
    totals: [{ before: { amount: '3', cost: '1' }, after: { amount: '3', cost: '2' } }],
    examples: [
      {
        before: { charge_items: [{ cost: { amount: '1', pricing_rule_set_id: costId } }] },
        after: { charge_items: [{ cost: { amount: '2', pricing_rule_set_id: null } }] },
      },
    ],
  });
});
