import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { createTestTrial, EXTRACTOR, PRICING, type TestTrial } from './trial.testing.js';

let trial: TestTrial;
let extractorId: string;
let pricingId: string;

const unread = {
  query: () => {
    throw new Error('a test of rules reads no usage');
  },
};

beforeAll(async () => {
  trial = await createTestTrial(unread);
  extractorId = await trial.makeRuleSet('extractor', EXTRACTOR);
  pricingId = await trial.makeRuleSet('pricing', { extractor_rule_set_id: extractorId, ...PRICING });
});
afterAll(() => trial.close());

const event = {
  raw_json: { model: 'large', tokens: 1_000, calls: 3, user: { type: 'user', id: 'u1' } },
  occurred_at: TEST_NOW_S,
};

async function tried(body: object | string) {
  const answer = await trial.post('/rules/test', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}

async function refused(body: object | string) {
  const answer = await trial.post('/rules/test', body);
  expect(answer.status, answer.text).toBe(400);
  const { code, details } = answer.json();
  return [code, ...(details ?? []).map(({ path }: { path: string }) => path)];
}

describe('POST …/rules/test', () => {
  it('says by which alias a model found its price', async () => {
    const aliases = [{ dimension: 'model', pattern: 'large-20*', value: 'large' }];
    const dated = { ...event, raw_json: { ...event.raw_json, model: 'large-2025-08-07' } };
    const result = await tried({ extractor: EXTRACTOR, pricing: { ...PRICING, aliases }, event: dated });
    expect(result.charge_items[0]).toMatchObject({ amount: '30', rule_name: 'large' });
    expect(result.explanation[0].priced_by.aliases).toEqual([{ from: 'large-2025-08-07', ...aliases[0] }]);
    expect(result.dimensions).toEqual({ model: 'large-2025-08-07' });
  });

  it('rates an event by rules that were sent', async () => {
    const { explanation, ...result } = await tried({ extractor: EXTRACTOR, pricing: PRICING, event });
    expect(result).toEqual({
      unpriced: [],
      warnings: [],
      subject: { type: 'user', id: 'u1' },
      dimensions: { model: 'large' },
      charge_items: [
        {
          extractor_name: 'tokens',
          metric: 'llm.tokens',
          unit: 'token',
          quantity: '1000',
          unit_price: '0.03',
          amount: '30',
          discount: '0',
          currency: 'USD',
          source: 'extractor',
          pricing_source: 'pricing_rule_set',
          rule_set_id: null,
          rule_set_version: null,
          rule_name: 'large',
          cumulative: null,
          cost: null,
        },
        {
          extractor_name: 'calls',
          metric: 'llm.calls',
          unit: null,
          quantity: '3',
          unit_price: '2',
          amount: '6',
          discount: '0',
          currency: 'EUR',
          source: 'extractor',
          pricing_source: 'extractor',
          rule_set_id: null,
          rule_set_version: null,
          rule_name: 'calls',
          cumulative: null,
          cost: null,
        },
      ],
      errors: [],
      notes: [],
    });
    expect(explanation).toMatchObject([
      {
        quantity: { path: 'tokens' },
        unit_price: { value: '0.03', expression: 'dec("0.03")' },
        priced_by: { rule_name: 'large', match_expr: 'dimensions.model == "large"' },
      },
      { quantity: { path: 'calls' }, unit_price: { value: '2', expression: 'dec("2")' } },
    ]);
  });

  it('takes bodies of create as they are, and drafts by their ids', async () => {
    const sent = await tried({
      extractor: { name: 'x', effective_from: 5, ...EXTRACTOR },
      pricing: { name: 'y', effective_from: 6, extractor_rule_set_id: 'ers_other', ...PRICING },
      event,
    });
    const saved = await tried({
      extractor_rule_set_id: extractorId,
      version: 1,
      pricing_rule_set_id: pricingId,
      event,
    });
    const named = sent.charge_items.map((item: object, index: number) => ({
      ...item,
      rule_set_id: [pricingId, extractorId][index],
      rule_set_version: 1,
    }));
    expect(saved.charge_items).toEqual(named);
  });

  it('has no price from a bound pricing rule set that is a draft', async () => {
    const { charge_items: items } = await tried({ extractor_rule_set_id: extractorId, event });
    expect(items[0]).toMatchObject({ metric: 'llm.tokens', amount: '0', pricing_source: 'unpriced' });
  });

  it('names the newest version by default, the draft, and any other on request', async () => {
    const id = await trial.makeRuleSet('extractor', EXTRACTOR);
    await trial.publish('extractor', id);
    const [tokens] = EXTRACTOR.charge_item_extractors;
    const url = `/v1/projects/${trial.projectId}/extractor-rule-sets/${id}`;
    await trial.call('PUT', url, { charge_item_extractors: [{ ...tokens, unit_price_expr: 'dec("1")' }] });
    const draft = await tried({ extractor_rule_set_id: id, event });
    expect(draft.charge_items).toMatchObject([{ amount: '1000', rule_set_version: 2 }]);
    const published = await tried({ extractor_rule_set_id: id, version: 1, event });
    expect(published.charge_items).toHaveLength(2);
  });

  it('expands a template', async () => {
    const { charge_items: items } = await tried({
      extractor: { template_id: 'compute_seconds' },
      event: { raw_json: {} },
    });
    expect(items).toEqual([]);
  });

  it('notes counts that do not add up', async () => {
    const { charge_items: items, notes } = await tried({
      extractor: { template_id: 'openai_chat_completions' },
      event: {
        raw_json: {
          model: 'm',
          usage: { completion_tokens: 20, completion_tokens_details: { reasoning_tokens: 21 } },
        },
      },
    });
    expect(items.map(({ quantity }: { quantity: string }) => quantity)).toEqual(['0', '21']);
    expect(notes).toMatchObject([{ code: 'quantity_clamped', metric: 'llm.output_tokens' }]);
  });

  it('keeps every digit of the event, and applies its hints', async () => {
    const body = `{"extractor": ${JSON.stringify(EXTRACTOR)}, "event": {"raw_json":
      {"model": "m", "tokens": 12345678901234567890.5}, "x-billing": {
        "items": [{"metric": "llm.calls", "quantity": 0.1}],
        "pricing_hints": {"llm.tokens": {"unit_price": 0.000000000000000001, "currency": "GBP"}}}}}`;
    const { charge_items: items } = await tried(body);
    expect(items).toMatchObject([
      { quantity: '12345678901234567890.5', currency: 'GBP', pricing_source: 'hint' },
      { quantity: '0.1', source: 'x_billing', amount: '0.2', currency: 'EUR' },
    ]);
  });

  it('takes the subject that was sent, and the current time without another', async () => {
    const extractor = {
      charge_item_extractors: [
        {
          metric: 'm',
          path: 'n',
          type: 'number',
          amount_expr: `occurred_at == ${TEST_NOW_S} ? dec("1") : dec("2")`,
        },
      ],
    };
    const result = await tried({
      extractor,
      event: { raw_json: { n: 1 }, subject_type: 'team', subject_id: 't1' },
    });
    expect(result).toMatchObject({ subject: { type: 'team', id: 't1' }, charge_items: [{ amount: '1' }] });
    const long = await tried({ extractor, event: { raw_json: { n: 1 }, occurred_at: 0 } });
    expect(long).toMatchObject({ subject: null, charge_items: [{ amount: '2' }] });
  });

  it('says what fails the event, with what was resolved', async () => {
    const pricing = { rules: [{ metric: 'llm.tokens', unit_price_expr: 'dec(dimensions.model)' }] };
    const { errors, ...resolved } = await tried({ extractor: EXTRACTOR, pricing, event });
    expect(errors).toEqual([
      { code: 'pricing_failed', message: expect.any(String), path: 'rules[0].unit_price_expr' },
    ]);
    expect(resolved).toEqual({
      unpriced: [],
      subject: { type: 'user', id: 'u1' },
      dimensions: { model: 'large' },
      charge_items: [],
      notes: [],
      warnings: [],
      explanation: [],
    });
    const missing = await tried({ extractor: EXTRACTOR, event: { raw_json: {} } });
    expect(missing.errors).toMatchObject([{ code: 'dimension_missing', path: 'dimensions[0]' }]);
  });

  it('refuses rules that could not be saved, with the places that saving would name', async () => {
    const extractor = { charge_item_extractors: [{ metric: 'M', path: 'a..b', type: 'number' }] };
    const pricing = { currency: 'usd', rules: [{ metric: 'm', unit_price_expr: '1 +' }] };
    const saving = await trial.post('/extractor-rule-sets', extractor);
    const places = saving.json().details.map(({ path }: { path: string }) => `extractor.${path}`);
    expect(places).toHaveLength(2);
    expect(await refused({ extractor, pricing, event })).toEqual([
      'invalid_request',
      ...places,
      'pricing.currency',
      'pricing.rules[0].unit_price_expr',
    ]);
    const template = { extractor: { template_id: 'nonsense' }, event };
    expect(await refused(template)).toEqual(['invalid_request', 'extractor.template_id']);
    const text = `{"extractor": {"name": "a\\u0000"}, "event": {"raw_json": {}}}`;
    expect(await refused(text)).toEqual(['invalid_request', 'extractor.name']);
  });

  it.each<[object, string[]]>([
    [{ event }, ['invalid_request', 'extractor']],
    [{ extractor: {}, extractor_rule_set_id: 'ers_1', event }, ['invalid_request', 'extractor']],
    [{ extractor: {}, version: 1, event }, ['invalid_request', 'version']],
    [{ extractor: {}, pricing: {}, pricing_rule_set_id: 'prs_1', event }, ['invalid_request', 'pricing']],
    [{ extractor: {}, pricing_version: 1, event }, ['invalid_request', 'pricing_version']],
    [{ extractor: {} }, ['invalid_request', 'event']],
    [{ extractor: {}, event: {} }, ['invalid_request', 'event.raw_json']],
    [{ extractor: {}, event: { raw_json: [] } }, ['invalid_request', 'event.raw_json']],
    [{ extractor: {}, event: { raw_json: {}, metadata: {} } }, ['invalid_request', 'event.metadata']],
    [{ extractor: {}, event: { raw_json: {}, source: 's' } }, ['invalid_request', 'event.source']],
    [{ extractor: {}, event: { raw_json: {}, occurred_at: -1 } }, ['invalid_request', 'event.occurred_at']],
    [
      { extractor: {}, event: { raw_json: {}, subject_type: 'user' } },
      ['subject_pair_incomplete', 'event.subject_id'],
    ],
    [
      { extractor: {}, event: { raw_json: {}, 'x-billing': { discount_hints: { m: { percent: 101 } } } } },
      ['invalid_request', 'event.x-billing.discount_hints.m.percent'],
    ],
    [{ extractor_rule_set_id: 'ers_absent', event }, ['rule_set_not_found', 'extractor_rule_set_id']],
    [
      { extractor: {}, pricing_rule_set_id: 'prs_absent', event },
      ['rule_set_not_found', 'pricing_rule_set_id'],
    ],
  ])('refuses %j', async (body, expected) => {
    expect(await refused(body)).toEqual(expected);
  });

  it('takes for absent: another version, another kind, another project', async () => {
    const other = await trial.makeProject(trial.tenantId);
    const foreign = await trial.call('POST', `/v1/projects/${other}/extractor-rule-sets`, EXTRACTOR);
    const absent = await trial.post('/rules/test', { extractor_rule_set_id: 'ers_absent', event });
    const same = await trial.post('/rules/test', { extractor_rule_set_id: foreign.json().id, event });
    expect(same.text).toBe(absent.text);
    for (const named of [
      { extractor_rule_set_id: pricingId },
      { extractor_rule_set_id: extractorId, version: 2 },
      { extractor_rule_set_id: extractorId, pricing_rule_set_id: extractorId },
    ]) {
      expect((await refused({ ...named, event }))[0]).toBe('rule_set_not_found');
    }
  });

  it('says which rule set is expected, and which version of it', async () => {
    const messageOf = async (body: object) =>
      (await trial.post('/rules/test', { ...body, event })).json().details[0].message;
    const extractor = { extractor_rule_set_id: pricingId };
    expect(await messageOf(extractor)).toBe('expected an extractor rule set of this project');
    const pricing = { extractor: {}, pricing_rule_set_id: pricingId, pricing_version: 7 };
    const expected = 'expected a pricing rule set of this project that has version 7';
    expect(await messageOf(pricing)).toBe(expected);
  });

  it('stores nothing', async () => {
    const count = async () =>
      (
        await trial.postgres.pool.query(
          'select (select count(*) from rule_sets) + (select count(*) from audit_log) + (select count(*) from segments) as n',
        )
      ).rows[0].n;
    const before = await count();
    await tried({ extractor: EXTRACTOR, pricing: PRICING, event });
    expect(await count()).toBe(before);
  });
});
