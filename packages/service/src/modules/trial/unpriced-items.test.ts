import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestTrial, type TestTrial } from './trial.testing.js';

let trial: TestTrial;

beforeAll(async () => {
  trial = await createTestTrial({
    query: () => {
      throw new Error('a test of rules reads no usage');
    },
  });
});
afterAll(() => trial.close());

async function tried(body: object) {
  const answer = await trial.post('/rules/test', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}

describe('unpriced items of a rules test', () => {
  it('says why the nearest rules do not price an item', async () => {
    const extractor = { charge_item_extractors: [{ metric: 'llm.input_tokens', path: 'n', type: 'number' }] };
    const rule = (metric: string, match_expr?: string) => ({
      name: `${metric} ${match_expr ?? ''}`,
      metric,
      unit_price_expr: 'dec("1")',
      ...(match_expr === undefined ? {} : { match_expr }),
    });
    const pricing = {
      rules: [
        rule('images'),
        rule('llm.input_images'),
        rule('llm.input_tokens', 'item.quantity > dec("5")'),
        rule('llm.input_tokens', 'dimensions.model == "large" && dimensions["tier"] == "batch"'),
      ],
    };
    const event = { raw_json: { n: 3 } };
    const nearest = [
      {
        rule_set_id: null,
        rule_name: 'llm.input_tokens item.quantity > dec("5")',
        metric: 'llm.input_tokens',
        match_expr: 'item.quantity > dec("5")',
        reason: 'match_false',
        missing_dimensions: [],
        aliases: [],
        message: 'match_expr is false for the event.',
      },
      {
        reason: 'match_failed',
        missing_dimensions: ['model', 'tier'],
        message: expect.stringContaining('The event has no model, tier.'),
      },
    ];
    const accepted = await tried({ extractor, pricing, event });
    expect(accepted.unpriced).toMatchObject([
      { metric: 'llm.input_tokens', quantity: '3', nearest_rules: nearest, priced_metrics: [] },
    ]);
    expect(accepted).toMatchObject({
      errors: [],
      charge_items: [{ pricing_source: 'unpriced', amount: '0' }],
    });
    const failed = await tried({ extractor: { ...extractor, on_unpriced: 'fail' }, pricing, event });
    expect(failed.unpriced).toEqual(accepted.unpriced);
    expect(failed).toMatchObject({ errors: [{ code: 'unpriced' }], charge_items: [] });
    const none = await tried({ extractor, pricing: { rules: [] }, event });
    expect(none.unpriced).toMatchObject([{ nearest_rules: [], priced_metrics: [] }]);
  });

  it('names metrics that have a price where no rule prices that of the item', async () => {
    const metrics = ['images', 'llm.images', 'llm.input_images', 'calls', 'storage', 'support'];
    const { unpriced } = await tried({
      extractor: { charge_item_extractors: [{ metric: 'llm.input_tokens', path: 'n', type: 'number' }] },
      pricing: { rules: metrics.map((metric) => ({ metric, unit_price_expr: 'dec("1")' })) },
      event: { raw_json: { n: 3 } },
    });
    const priced_metrics = ['llm.input_images', 'llm.images', 'images', 'calls', 'storage'];
    expect(unpriced).toMatchObject([{ nearest_rules: [], priced_metrics }]);
  });
});
