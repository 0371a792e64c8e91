import type { PricingPurpose } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createRuleSets, createRuleVersions, type RuleSets, registerRuleSetRoutes } from './index.js';
import { complete, itemsOf } from './testing.js';

const RULES = [{ metric: 'tokens', unit_price_expr: 'dec("2")' }];

let api: TestApi;
let ruleSets: RuleSets;
let url: string;
let extractorId: string;

beforeAll(async () => {
  api = await createTestApi((app, stores) => {
    ruleSets = createRuleSets(stores);
    registerRuleSetRoutes(app, ruleSets);
  });
  url = `/v1/projects/${api.projectId}/pricing-rule-sets`;
  const extractors = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  const charge_item_extractors = [{ metric: 'tokens', path: 'n', type: 'number' }];
  extractorId = (await api.call('POST', extractors, { charge_item_extractors, effective_from: 0 })).json().id;
  await api.call('POST', `${extractors}/${extractorId}/publish`);
});
afterAll(() => api.close());

const save = (method: 'POST' | 'PUT', path: string, body: object) =>
  api.call(method, path, { extractor_rule_set_id: extractorId, rules: RULES, effective_from: 0, ...body });
const create = async (body: object) => (await save('POST', url, body)).json();
const listed = async (query = '') => (await api.call('GET', `${url}${query}`)).json();

it('is price unless it is sent, and shown wherever the rule set is', async () => {
  const price = await create({ name: 'price' });
  const cost = await create({ name: 'cost', purpose: 'cost' });
  expect([price.purpose, cost.purpose]).toEqual(['price', 'cost']);
  expect((await api.call('GET', `${url}/${cost.id}`)).json()).toMatchObject({
    name: 'cost',
    purpose: 'cost',
  });
  const { versions } = (await api.call('GET', `${url}/${cost.id}/versions`)).json();
  expect(versions).toMatchObject([{ purpose: 'cost' }]);
});

it('filters the list', async () => {
  const namesOf = async (purpose: PricingPurpose) => {
    const { pricing_rule_sets: found, total_count } = await listed(`?purpose=${purpose}`);
    expect(total_count).toBe(found.length);
    return found.map(({ name }: { name: string }) => name);
  };
  await create({ name: 'only price' });
  await create({ name: 'only cost', purpose: 'cost' });
  expect(await namesOf('price')).toContain('only price');
  expect(await namesOf('price')).not.toContain('only cost');
  expect(await namesOf('cost')).toContain('only cost');
  expect(await namesOf('cost')).not.toContain('only price');
  expect((await api.call('GET', `${url}?purpose=other`)).status).toBe(400);
});

it.each([
  ['price', 'cost'],
  ['cost', 'price'],
])('does not change from %s to %s', async (purpose, other) => {
  const { id } = await create({ purpose });
  const refused = await save('PUT', `${url}/${id}`, { purpose: other });
  expect([refused.status, refused.json()]).toMatchObject([
    409,
    {
      code: 'pricing_purpose_fixed',
      details: [{ path: 'purpose', message: expect.stringContaining(purpose) }],
    },
  ]);
  for (const same of [{ purpose }, {}]) {
    const saved = await save('PUT', `${url}/${id}`, { ...same, name: 'next' });
    expect([saved.status, saved.json()]).toMatchObject([200, { name: 'next', purpose }]);
  }
});

it('is refused with an unknown value, and by extractor rule sets', async () => {
  expect((await save('POST', url, { purpose: 'margin' })).json().details).toMatchObject([
    { path: 'purpose' },
  ]);
  const extractors = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  expect((await api.call('POST', extractors, { purpose: 'cost' })).status).toBe(400);
  const shown = (await api.call('GET', `${extractors}/${extractorId}`)).json();
  expect(shown).not.toHaveProperty('purpose');
});

it('of cost: no rule can have a counter', async () => {
  const cumulative = { counter: 'tokens', period: 'month', per: 'subject' };
  const counted = { rules: [{ metric: 'tokens', cumulative, total_expr: 'total.quantity' }] };
  const { id } = await create({ purpose: 'cost' });
  for (const refused of [
    await save('POST', url, { purpose: 'cost', ...counted }),
    await save('PUT', `${url}/${id}`, counted),
  ])
    expect([refused.status, refused.json()]).toMatchObject([
      400,
      {
        code: 'invalid_request',
        error: expect.stringContaining('rules[0].cumulative: a cost cannot depend on a counter'),
        details: [{ path: 'rules[0].cumulative' }],
      },
    ]);
  expect((await save('POST', url, counted)).status).toBe(201);
});

it('of cost: the versions of the time of an event give costs and no prices, in production and to tests of rules', async () => {
  const publish = (id: string) => api.call('POST', `${url}/${id}/publish`);
  const rule = (amount: string) => ({
    rules: [{ name: 'cost', metric: 'tokens', amount_expr: `dec("${amount}")` }],
  });
  const { id } = await create({ purpose: 'cost', ...rule('3') });
  await publish(id);
  await save('PUT', `${url}/${id}`, { ...rule('4'), effective_from: TEST_NOW_S });
  await publish(id);
  const ref = { projectId: api.projectId, ruleSetId: extractorId };
  const [found] = await createRuleVersions(api.postgres).refresh([ref]);
  const bound = await ruleSets.boundPrices.of(api.projectId, extractorId);
  for (const [occurredAt, version, amount] of [
    [TEST_NOW_S - 1, 1, 3n],
    [TEST_NOW_S, 2, 4n],
  ] as const) {
    const rules = await found?.rules.at(occurredAt);
    const rated = rules?.rate({ rawJson: { n: 5 }, occurredAt });
    expect(rated && itemsOf(complete(rated))).toMatchObject([
      {
        ...{ amount: '0', pricingSource: 'unpriced' },
        cost: { amount: amount * 10n ** 18n, currency: 'USD', ruleSetId: id, ruleSetVersion: version },
      },
    ]);
    const { configs, costConfigs } = await bound.at(occurredAt);
    expect([[...configs.keys()], [...costConfigs.keys()]]).toEqual([[], [id]]);
  }
});
