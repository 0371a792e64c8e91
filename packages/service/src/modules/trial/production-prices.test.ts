import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { createTestClickHouse, insertUsageRows, type TestClickHouse, usageRow } from '../../testing/index.js';
import { createRuleVersions, type RatedEvent, ratingInputOf } from '../rules/index.js';
import { outcomeOf } from './outcome.js';
import { createTestTrial, EXTRACTOR, type TestTrial } from './trial.testing.js';

/** When the second version of one pricing rule set begins, and when the other one is archived. */
const CHANGED_AT = TEST_NOW_S - 500;
const ARCHIVED_AT = TEST_NOW_S;
const TIMES = [CHANGED_AT - 400, CHANGED_AT - 1, CHANGED_AT, ARCHIVED_AT - 1, ARCHIVED_AT, ARCHIVED_AT + 50];
const MODELS = ['large', 'medium', 'small', 'other'];
const RANGE = { from: TEST_NOW_S - 1_000, to: TEST_NOW_S + 100 };

const rule = (name: string, priority: number, price: string, match?: string) => ({
  name,
  priority,
  metric: 'llm.tokens',
  unit_price_expr: `dec("${price}")`,
  ...(match === undefined ? {} : { match_expr: match }),
});

/** Which rule prices what depends on the priorities of both rule sets. */
const FIRST = {
  rules: [
    rule('first large', 10, '0.1', 'dimensions.model == "large"'),
    rule('first small', 30, '0.3', 'dimensions.model in ["medium", "small"]'),
  ],
};
const SECOND = {
  rules: [
    rule('second medium', 20, '0.2', 'dimensions.model in ["large", "medium"]'),
    rule('second any', 40, '0.4'),
  ],
};
const SECOND_CHANGED = {
  rules: [rule('dearer large', 5, '0.5', 'dimensions.model == "large"'), rule('second any', 40, '0.6')],
};

let store: TestClickHouse;
let trial: TestTrial;
let extractorId: string;
let firstId: string;
let secondId: string;

beforeAll(async () => {
  store = await createTestClickHouse();
  trial = await createTestTrial(store.clickhouse);
  extractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
  await trial.publish('extractor', extractorId);
  const bound = { extractor_rule_set_id: extractorId, effective_from: 0 };
  firstId = await trial.makeRuleSet('pricing', { ...bound, ...FIRST });
  secondId = await trial.makeRuleSet('pricing', { ...bound, ...SECOND });
  await trial.publish('pricing', firstId);
  await trial.publish('pricing', secondId);
  await change(secondId, { ...bound, ...SECOND_CHANGED, effective_from: CHANGED_AT });
  await trial.publish('pricing', secondId);
  // A draft prices nothing.
  await change(secondId, { ...bound, rules: [rule('draft', 1, '9')] });
  await trial.call('POST', `${pricingUrl(firstId)}/archive`);
  await insertUsageRows(store.clickhouse, await producedRows());
});
afterAll(async () => {
  await trial?.close();
  await store?.drop();
});

const pricingUrl = (id: string) => `/v1/projects/${trial.projectId}/pricing-rule-sets/${id}`;

async function change(id: string, body: object): Promise<void> {
  const changed = await trial.call('PUT', pricingUrl(id), body);
  if (changed.status !== 200) throw new Error(changed.text);
}

const EVENTS = TIMES.flatMap((occurredAt) =>
  MODELS.map((model) => ({ occurred_at: occurredAt, raw_json: { model, tokens: 100, calls: 1 } })),
);
type Event = (typeof EVENTS)[number];

/** The event as a worker rates it. */
async function produced(event: Event): Promise<RatedEvent> {
  const ref = { projectId: trial.projectId, ruleSetId: extractorId };
  const [found] = await createRuleVersions(trial.postgres).refresh([ref]);
  const version = await found?.rules.at(event.occurred_at);
  if (version === undefined) throw new Error('the extractor rule set is published');
  const rated = version.rate(ratingInputOf(event));
  if (rated.ok === undefined) throw new Error('no price depends on a counter');
  return rated;
}

function producedRows() {
  return Promise.all(
    EVENTS.map(async (event) => {
      const rated = await produced(event);
      if (!rated.ok) throw new Error(rated.failure.message);
      return usageRow({
        tenantId: trial.tenantId,
        projectId: trial.projectId,
        extractorRuleSetId: extractorId,
        occurredAt: event.occurred_at,
        rawJson: JSON.stringify(event.raw_json),
        items: rated.items,
      });
    }),
  );
}

async function tried(body: object) {
  const answer = await trial.post('/rules/test', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}

async function backtested(body: object) {
  const asked = { extractor_rule_set_id: extractorId, time_range: RANGE, ...body };
  const answer = await trial.post('/rules/backtest', asked);
  expect(answer.status, answer.text).toBe(200);
  return answer.json().result;
}

const priced = async (model: string, occurredAt: number, naming: object = {}) => {
  const event = { raw_json: { model, tokens: 100 }, occurred_at: occurredAt };
  const { charge_items: items } = await tried({ extractor_rule_set_id: extractorId, ...naming, event });
  return [items[0].rule_name, items[0].rule_set_version, items[0].amount];
};

describe('rules/test, where no prices are named', () => {
  it.each(EVENTS)('prices as a worker would: $occurred_at $raw_json.model', async (event) => {
    const { charge_items: items } = await tried({ extractor_rule_set_id: extractorId, event });
    expect(items).toEqual(outcomeOf(await produced(event)).items);
  });

  it('takes the rules of all bound rule sets by priority, each in its version of the time', async () => {
    const before = CHANGED_AT - 1;
    expect(await priced('large', before)).toEqual(['first large', 1, '10']);
    expect(await priced('medium', before)).toEqual(['second medium', 1, '20']);
    expect(await priced('small', before)).toEqual(['first small', 1, '30']);
    expect(await priced('other', before)).toEqual(['second any', 1, '40']);
    expect(await priced('large', CHANGED_AT)).toEqual(['dearer large', 2, '50']);
    expect(await priced('medium', CHANGED_AT)).toEqual(['first small', 1, '30']);
    expect(await priced('medium', ARCHIVED_AT)).toEqual(['second any', 2, '60']);
  });

  it('takes the current time for an event without one', async () => {
    const event = { raw_json: { model: 'small', tokens: 100 } };
    const { charge_items: items } = await tried({ extractor_rule_set_id: extractorId, event });
    expect(items).toMatchObject([{ rule_name: 'second any', rule_set_version: 2 }]);
  });

  it('explains them as those of an event', async () => {
    const event = { raw_json: { model: 'large', tokens: 100 }, occurred_at: CHANGED_AT - 1 };
    const { explanation } = await tried({ extractor_rule_set_id: extractorId, event });
    expect(explanation).toMatchObject([
      {
        unit_price: { value: '0.1', expression: 'dec("0.1")' },
        priced_by: {
          rule_set_id: firstId,
          rule_set_version: 1,
          rule_name: 'first large',
          match_expr: 'dimensions.model == "large"',
          priority: 10,
        },
      },
    ]);
  });

  it('prices what a draft of a published extractor reads', async () => {
    const id = await trial.makeRuleSet('extractor', EXTRACTOR);
    await trial.publish('extractor', id);
    const bound = { extractor_rule_set_id: id };
    const pricingId = await trial.makeRuleSet('pricing', { ...bound, rules: [rule('one', 0, '1')] });
    await trial.publish('pricing', pricingId);
    const draft = {
      charge_item_extractors: [{ name: 'half', metric: 'llm.tokens', path: 'half', type: 'number' }],
    };
    await trial.call('PUT', `/v1/projects/${trial.projectId}/extractor-rule-sets/${id}`, draft);
    const event = { raw_json: { model: 'large', tokens: 100, half: 50 } };
    const { charge_items: items } = await tried({ ...bound, event });
    expect(items).toMatchObject([{ extractor_name: 'half', amount: '50', rule_name: 'one' }]);
    const published = await tried({ ...bound, version: 1, event });
    expect(published.charge_items).toMatchObject([{ extractor_name: 'tokens', amount: '100' }]);
  });

  it('sees what was published since', async () => {
    const id = await trial.makeRuleSet('extractor', EXTRACTOR);
    const naming = { extractor_rule_set_id: id };
    expect(await priced('large', TEST_NOW_S, naming)).toEqual([null, null, '0']);
    const pricingId = await trial.makeRuleSet('pricing', { ...naming, rules: [rule('one', 0, '1')] });
    expect(await priced('large', TEST_NOW_S, naming)).toEqual([null, null, '0']);
    await trial.publish('pricing', pricingId);
    // The extractor rule set is a draft: it is tested with the prices that it would have.
    expect(await priced('large', TEST_NOW_S, naming)).toEqual(['one', 1, '100']);
    await trial.call('POST', `${pricingUrl(pricingId)}/archive`);
    expect(await priced('large', TEST_NOW_S, naming)).toEqual([null, null, '0']);
    expect(await priced('large', TEST_NOW_S - 1, naming)).toEqual(['one', 1, '100']);
  });
});

describe('prices that are named', () => {
  it('replace all that are bound', async () => {
    const at = CHANGED_AT - 1;
    expect(await priced('large', at, { pricing: { rules: [] } })).toEqual([null, null, '0']);
    expect(await priced('large', at, { pricing: { rules: [rule('sent', 99, '2')] } })).toEqual([
      'sent',
      null,
      '200',
    ]);
    const second = { pricing_rule_set_id: secondId };
    expect(await priced('large', at, { ...second, pricing_version: 1 })).toEqual(['second medium', 1, '20']);
    expect(await priced('large', at, second)).toEqual(['draft', 3, '900']);
  });

  it('replace them in a backtest', async () => {
    const { totals } = await backtested({ pricing: { rules: [] } });
    const tokens = totals.filter(({ metric }: { metric: string }) => metric === 'llm.tokens');
    expect(tokens.map(({ after }: { after: { amount: string } }) => after.amount)).toEqual(['0', '0']);
  });
});

describe('a backtest, where no prices are named', () => {
  it('prices every event as production did at its time', async () => {
    const { totals, ...result } = await backtested({});
    expect(result).toMatchObject({ event_count: EVENTS.length, changed_count: 0, examples: [] });
    for (const { before, after } of totals) expect(after).toEqual(before);
    expect(totals.map(({ metric }: { metric: string }) => metric)).toEqual(['llm.calls', 'llm.tokens']);
  });

  it('gives a sent extractor the same prices', async () => {
    const [tokens] = EXTRACTOR.charge_item_extractors;
    const extractor = { ...EXTRACTOR, charge_item_extractors: [tokens] };
    const { totals } = await backtested({ extractor });
    const [calls, sameTokens] = totals;
    expect(calls).toMatchObject({ metric: 'llm.calls', after: { item_count: 0 } });
    expect(sameTokens.after).toEqual(sameTokens.before);
    expect(sameTokens.after.item_count).toBe(EVENTS.length);
  });
});
