import type { AnalysisQuery, AnalysisRow, CorrectionRules } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

const STORAGES = ['shared', 'dedicated'] as const;

const fixtures = new Map<(typeof STORAGES)[number], CorrectionsFixture>();
beforeAll(async () => {
  for (const storage of STORAGES) fixtures.set(storage, await CorrectionsFixture.open(storage));
});
afterAll(async () => {
  for (const fixture of fixtures.values()) await fixture.close();
});

/** A project whose tokens are sold for 0.5 USD. */
async function createProject(storage: (typeof STORAGES)[number] = 'shared'): Promise<CorrectionsProject> {
  const fixture = fixtures.get(storage);
  if (fixture === undefined) throw new Error('the fixture is not open');
  return CorrectionsProject.create(fixture);
}

const rulesOf = (project: CorrectionsProject, amount: string, fields: object = {}) => ({
  ...{ extractor_rule_set_id: project.ruleSetId, effective_from: 1_700_000_000, purpose: 'cost' },
  rules: [{ name: 'tokens', metric: 'llm.tokens', unit_price_expr: `dec("${amount}")` }],
  ...fields,
});

async function publishCosts(
  project: CorrectionsProject,
  amount: string,
  fields: object = {},
): Promise<string> {
  const { id } = await project.must(201, 'POST', '/pricing-rule-sets', rulesOf(project, amount, fields));
  await project.must(200, 'POST', `/pricing-rule-sets/${id}/publish`);
  return id;
}

async function recost(project: CorrectionsProject, id: string, amount: string): Promise<void> {
  await project.must(200, 'PUT', `/pricing-rule-sets/${id}`, rulesOf(project, amount));
  await project.must(200, 'POST', `/pricing-rule-sets/${id}/publish`);
}

async function sums(project: CorrectionsProject, query: Partial<AnalysisQuery> = {}): Promise<AnalysisRow[]> {
  const body = {
    ...{ time_range: project.everything, bucket_size: 'none', measures: ['amount', 'cost', 'margin'] },
    ...query,
  };
  return (await project.must(200, 'POST', '/analysis/query', body)).rows;
}

const costOf = async (project: CorrectionsProject, id: string) =>
  (await project.event(id)).charge_items[0]?.cost?.amount ?? null;

it.each(STORAGES)('a corrected event has the cost of its last revision, in %s tables', async (storage) => {
  const project = await createProject(storage);
  const { accountId } = await project.route('c1');
  const costs = await publishCosts(project, '0.2');
  const [id = ''] = await project.sendAndRate([{ customer: 'c1', model: 'm', n: 10 }]);
  expect(await project.event(id)).toMatchObject({
    posting: 'posted',
    charge_items: [
      {
        amount: '5',
        cost: { amount: '2', currency: 'USD', pricing_rule_set_id: costs, version: 1, rule: 'tokens' },
      },
    ],
    explanation: { charge_items: [{ cost: { value: '2', unit_price_expression: 'dec("0.2")' } }] },
  });
  const first = { currency: 'USD', amount: '5', cost: '2', margin: '3' };
  expect(await sums(project)).toMatchObject([first]);

  await recost(project, costs, '0.3');
  const rerated = await project.correct({ action: 'rerate' });
  const total = {
    ...{ metric: 'llm.tokens', currency: 'USD', account_id: accountId },
    amount: { before: '5', after: '5', delta: '0' },
    cost: { before: '2', after: '3', delta: '1' },
  };
  expect(rerated).toMatchObject({
    ...{ events_changed: 1, status: 'applied', totals: [total], applied: { totals: [total] } },
  });
  const second = { currency: 'USD', amount: '5', cost: '3', margin: '2' };
  expect(await sums(project)).toMatchObject([second]);
  const revisions = (await project.event(id)).revisions;
  expect(revisions).toMatchObject([
    { revision: 1, charge_items: [{ cost: { amount: '2', version: 1 } }] },
    { revision: 2, charge_items: [{ cost: { amount: '3', version: 2 } }] },
  ]);
  expect(await project.correct({ action: 'rerate' })).toMatchObject({ events_changed: 0 });

  await project.change(rerated.id, 'revert');
  expect(await sums(project)).toMatchObject([first]);
  expect(await costOf(project, id)).toBe('2');

  const voided = await project.void(id);
  expect(await sums(project)).toEqual([]);
  await project.change(voided.id, 'revert');
  expect(await sums(project)).toMatchObject([first]);
  // Costs are posted nowhere.
  expect(await project.balance(accountId)).toBe('-5');
  const report = await project.fixture.verify();
  expect(report.differences).toEqual([]);
  expect(report.totals).toContainEqual(
    expect.objectContaining({ project_id: project.projectId, measure: 'cost', currency: 'USD', value: '2' }),
  );
});

it('a cost in another currency, and one of an item without a price, are in rows of their own', async () => {
  const project = await createProject();
  await publishCosts(project, '0.2', { currency: 'EUR' });
  await publishCosts(project, '3', {
    rules: [{ name: 'bytes', metric: 'net.bytes', unit_price_expr: 'dec("3")' }],
  });
  await project.sendAndRate([
    { customer: 'c1', model: 'large', n: 10, bytes: 2 },
    { customer: 'c1', model: 'small', n: 5 },
  ]);
  const measures: AnalysisQuery['measures'] = [
    'item_count',
    'quantity',
    'amount',
    'cost',
    'margin',
    'average',
  ];
  const bytes = { metric: 'net.bytes', quantity: '0' };
  const tokens = { metric: 'llm.tokens', unit: 'token' };
  const none = { item_count: 0, quantity: '0', amount: '0', average: null };
  expect(await sums(project, { measures, group_by: ['bucket', 'model'] })).toMatchObject([
    { ...tokens, currency: 'EUR', group: { model: 'large' }, ...none, cost: '2', margin: '-2' },
    { ...tokens, currency: 'EUR', group: { model: 'small' }, ...none, cost: '1', margin: '-1' },
    {
      ...tokens,
      currency: 'USD',
      group: { model: 'large' },
      item_count: 1,
      amount: '5',
      cost: '0',
      margin: '5',
    },
    { ...tokens, currency: 'USD', group: { model: 'small' }, item_count: 1, amount: '2.5', cost: '0' },
    { metric: 'net.bytes', currency: null, item_count: 1, quantity: '2', amount: '0', cost: '0' },
    { ...bytes, currency: 'USD', item_count: 0, cost: '6', margin: '-6' },
  ]);
  const added = { measures: ['cost', 'margin'] as const, split_by: [] };
  expect(await sums(project, { ...added, measures: [...added.measures] })).toMatchObject([
    { metric: null, currency: null, cost: '0', margin: '0' },
    { metric: null, currency: 'EUR', cost: '3', margin: '-3' },
    { metric: null, currency: 'USD', cost: '6', margin: '1.5' },
  ]);
  // Without costs, nothing of their rows is seen.
  const amounts = await sums(project, { measures: ['amount'] });
  expect(amounts.map(({ metric, currency }) => [metric, currency])).toEqual([
    ['llm.tokens', 'USD'],
    ['net.bytes', null],
  ]);
  const { metrics } = await project.get('/usage/metrics');
  expect(metrics).toMatchObject([
    { metric: 'llm.tokens', currencies: ['USD'] },
    { metric: 'net.bytes', currencies: [] },
  ]);
  const plan = await project.correct({ action: 'void', dry_run: true });
  const costs = plan.totals.map(({ metric, currency, quantity, cost }) => [
    ...[metric, currency, quantity.delta],
    cost.delta,
  ]);
  expect(costs).toEqual([
    ['llm.tokens', 'USD', '-15', '0'],
    ['net.bytes', null, '-2', '0'],
    ['net.bytes', 'USD', '0', '-6'],
    ['llm.tokens', 'EUR', '0', '-3'],
  ]);
  expect(await project.change(plan.id, 'apply')).toMatchObject({ status: 'applied' });
  expect(await project.change(plan.id, 'revert')).toMatchObject({ applied: { totals: [] } });
});

it('a plan that changes costs alone shows the events whose costs differ most, of all parts', async () => {
  const project = await createProject();
  const costs = await publishCosts(project, '0.2');
  const contents = Array.from({ length: 25 }, (_, index) => ({ customer: 'c1', n: index + 1 }));
  await project.sendAndRate(contents);
  await recost(project, costs, '0.3');
  const plan = await project.correct({ action: 'rerate', dry_run: true });
  const sizes = plan.examples.map(({ before }) => before.charge_items[0]?.quantity);
  expect(sizes).toEqual(Array.from({ length: 20 }, (_, index) => `${25 - index}`));
  expect(plan.examples[0]).toMatchObject({
    amount_deltas: [],
    before: { charge_items: [{ cost: { amount: '5' } }] },
    after: { charge_items: [{ cost: { amount: '7.5' } }] },
  });
});

it('named versions replace those of their purpose alone', async () => {
  const project = await createProject();
  const costs = await publishCosts(project, '0.2');
  const other = await publishCosts(project, '0.01', {
    rules: [{ name: 'bytes', metric: 'net.bytes', unit_price_expr: 'dec("1")' }],
  });
  const prices = await publishCosts(project, '0', {
    purpose: 'price',
    rules: [{ name: 'bytes', metric: 'net.bytes', unit_price_expr: 'dec("4")' }],
  });
  const [id = ''] = await project.sendAndRate([{ customer: 'c1', n: 10, bytes: 2 }]);
  const resultBy = async (rules: CorrectionRules) => {
    expect(await project.correct({ action: 'rerate', rules })).toMatchObject({ status: 'applied' });
    const { charge_items } = await project.event(id);
    return charge_items.map(({ amount, cost }: { amount: string; cost: { amount: string } | null }) => [
      amount,
      cost?.amount ?? null,
    ]);
  };
  const published = [
    ['5', '2'],
    ['8', '2'],
  ];
  expect(await resultBy({})).toEqual(published);
  expect(await resultBy({ pricing: [{ id: costs, version: 1 }] })).toEqual([published[0], ['8', null]]);
  expect(await resultBy({ pricing: [{ id: prices, version: 1 }] })).toEqual(published);
  expect(await resultBy({ pricing: [] })).toEqual([published[0], ['0', '2']]);
  const extractor = { id: project.ruleSetId, version: 1 };
  expect(await resultBy({ extractor, pricing: [{ id: other, version: 1 }] })).toEqual([
    ['5', null],
    ['8', '2'],
  ]);
  expect(await resultBy({ extractor })).toEqual(published);
});

it('an event whose cost fails is rated, and found by its note', async () => {
  const project = await createProject();
  await publishCosts(project, '0', {
    rules: [{ name: 'rate', metric: 'llm.tokens', unit_price_expr: 'dec(dimensions.model)' }],
  });
  const [failed = '', fine = ''] = await project.sendAndRate([
    { customer: 'c1', model: 'm', n: 10 },
    { customer: 'c1', model: '0.25', n: 10 },
  ]);
  expect(await project.event(failed)).toMatchObject({
    status: 'processed',
    charge_items: [{ amount: '5', cost: null }],
    notes: [{ code: 'cost_failed', metric: 'llm.tokens', path: 'rules[0].unit_price_expr' }],
  });
  expect(await costOf(project, fine)).toBe('2.5');
  const { events } = await project.get('/usage/events?note=cost_failed');
  expect(events.map(({ raw_event_id }: { raw_event_id: string }) => raw_event_id)).toEqual([failed]);
});
