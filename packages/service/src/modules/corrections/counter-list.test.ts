import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])';
const DAY_S = 86_400;

let fixture: CorrectionsFixture;

beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

it('counters are listed with their totals, amounts and next steps, each by its owner', async () => {
  const project = await countedProject(fixture, {
    total: GRADUATED,
    cumulative: { period: 'day', by: ['model'] },
  });
  await project.sendAndRate([
    { customer: 'a', n: 4, model: 'x' },
    { customer: 'a', n: 12 },
    { customer: 'b', n: 1, model: 'x' },
  ]);
  await project.sendAndRate([{ customer: 'a', n: 7, model: 'x' }], DAY_S);
  const list = (query: string) => project.get(`/counters?${query}`);
  const ofA = await list('subject_type=customer&subject_id=a');
  expect(ofA).toMatchObject({ total_count: 2, limit: 20, offset: 0 });
  const byModel = new Map(
    ofA.counters.map((each: { by: { model: string | null } }) => [each.by.model, each]),
  );
  const startOfDay = Math.floor((fixture.nowS - 100) / DAY_S) * DAY_S;
  expect(byModel.get('x')).toEqual({
    counter: 'tokens',
    rule_set_id: project.ruleSetId,
    subject_type: 'customer',
    subject_id: 'a',
    account_id: null,
    by: { model: 'x' },
    period_start: startOfDay,
    period_end: startOfDay + DAY_S,
    quantity: '4',
    amount: '8',
    currency: 'USD',
    next_step: { at_quantity: '10', unit_price: '1' },
  });
  expect(byModel.get(null)).toMatchObject({ quantity: '12', amount: '22', next_step: null });
  expect((await list(`subject_id=a&at=${startOfDay - 1}`)).counters).toMatchObject([{ quantity: '7' }]);
  expect((await list('counter=tokens&limit=1')).counters).toHaveLength(1);
  expect(await list('counter=tokens')).toMatchObject({ total_count: 3 });
  for (const nothing of ['counter=other', 'rule_set_id=ers_other', 'account_id=acct_1', 'at=5'])
    expect(await list(nothing)).toMatchObject({ counters: [], total_count: 0 });
});

it('the next step is that of the version that priced last, and needs the permission to read usage', async () => {
  const project = await countedProject(fixture, { total: 'total.quantity', cumulative: { per: 'project' } });
  await project.sendAndRate([{ customer: 'a', n: 4 }]);
  expect((await project.get('/counters')).counters).toMatchObject([
    { subject_type: null, subject_id: null, account_id: null, next_step: null },
  ]);
  await project.must(
    200,
    'PUT',
    `/extractor-rule-sets/${project.ruleSetId}`,
    countedRules({ total: GRADUATED, cumulative: { per: 'project' } }),
  );
  await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
  await project.sendAndRate([{ customer: 'a', n: 1 }]);
  expect((await project.get('/counters')).counters).toMatchObject([
    { quantity: '5', amount: '6', next_step: { at_quantity: '10', unit_price: '1' } },
  ]);
  const key = await project.makeKey(['rules:read']);
  expect((await project.call('GET', '/counters', undefined, {}, key)).status).toBe(403);
});
