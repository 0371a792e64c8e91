import { hash } from 'node:crypto';
import type { Cumulative } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { present } from '../../kernel/present.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject } from './counted.testing.js';
import type { CorrectionsProject } from './project.testing.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])';

const UNIQUE: Partial<Cumulative> = { aggregate: 'unique', of: 'model' };

let fixture: CorrectionsFixture;

beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

/** The next test begins with equal stores. */
async function forget({ projectId }: CorrectionsProject): Promise<void> {
  await fixture.rows('delete from rule_set_counters where project_id = $1', [projectId]);
}

async function filled(cumulative: Partial<Cumulative>): Promise<CorrectionsProject> {
  const project = await countedProject(fixture, { total: GRADUATED, cumulative });
  await project.route('a');
  await project.sendAndRate([
    { customer: 'a', n: 4, model: 'x' },
    { customer: 'b', n: 12 },
    { customer: 'a', n: 8, model: 'x' },
    { customer: 'a', n: 8, model: 'y' },
  ]);
  await project.sendAndRate([{ customer: 'a', n: 3 }], 40 * 86_400);
  return project;
}

it.each<[Partial<Cumulative>, number]>([
  [{}, 3],
  [{ per: 'account' }, 2],
  [{ per: 'project', period: 'lifetime' }, 1],
  [{ by: ['model'] }, 4],
  [{ aggregate: 'count' }, 3],
  [{ aggregate: 'max' }, 3],
  [{ aggregate: 'unique', of: 'model' }, 3],
])('counters %j are equal to the charge items that they have counted', async (cumulative, periods) => {
  const before = (await fixture.verify()).counters;
  await filled(cumulative);
  const report = await fixture.verify();
  expect(report).toMatchObject({ status: 'equal', counters: { difference_count: 0, unsettled: 0 } });
  expect(report.counters.counters - before.counters).toBe(periods);
});

it('counters keep values that an index or the text of PostgreSQL cannot hold', async () => {
  const long = Array.from({ length: 64 }, (_, index) => hash('sha512', `${index}`, 'base64url')).join('');
  const project = await countedProject(fixture, {
    total: 'total.quantity',
    cumulative: { ...UNIQUE, by: ['model'] },
  });
  const models = [long.slice(0, 4_096), `${long.slice(0, 4_095)}é`, 'a\0b', '\ud800', '\udc00'];
  const ids = await project.sendAndRate(models.map((model) => ({ customer: 'a', n: 1, model })));
  const events = await Promise.all(ids.map((id) => project.event(id)));
  expect(events.map(({ charge_items: items }) => items[0].amount)).toEqual(['1', '1', '1', '1', '0']);
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
  await project.void(present(ids[0], 'the first event'));
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
});

const LOSE_COUNTERS = 'delete from usage_counters where project_id = $1';
const LOSE_TOTALS =
  'delete from usage_counter_totals t using usage_counters c where t.id = c.totals_id and c.project_id = $1';

it.each<[string, string, object, string]>([
  ['an amount of one digit more', 'amount = amount + 1e-18', { measure: 'amount' }, LOSE_COUNTERS],
  ['a total of one digit less', 'quantity = quantity - 1e-18', { measure: 'quantity' }, LOSE_TOTALS],
  ['one charge item more', 'item_count = item_count + 1', { measure: 'item_count' }, LOSE_COUNTERS],
])('%s is found, and missing counters', async (_, change, difference, lose) => {
  const project = await filled({ by: ['model'] });
  const changed = `update usage_counter_totals t set ${change} from usage_counters c
    where t.id = c.totals_id and c.project_id = $1 and subject_id = 'a' and by_dimensions = '{"model": "x"}'`;
  await fixture.rows(changed, [project.projectId]);
  const { status, counters } = await fixture.verify();
  expect(status).toBe('different');
  expect(counters.differences).toMatchObject([
    {
      project_id: project.projectId,
      rule_set_id: project.ruleSetId,
      counter: 'tokens',
      subject_type: 'customer',
      subject_id: 'a',
      account_id: null,
      by: { model: 'x' },
      ...difference,
    },
  ]);
  await fixture.rows(lose, [project.projectId]);
  const missing = (await fixture.verify()).counters;
  expect(missing.differences.filter(({ measure }) => measure === 'item_count')).toHaveLength(4);
  expect(missing.differences).toContainEqual(
    expect.objectContaining({ by: { model: 'x' }, measure: 'quantity', expected: '12', found: '0' }),
  );
  await forget(project);
});

it.each<[string, Partial<Cumulative>]>([
  ['charge items', { aggregate: 'count' }],
  ['the greatest quantity', { aggregate: 'max' }],
  ['distinct values', UNIQUE],
])('a total of one digit more is found where it is that of %s', async (_, cumulative) => {
  const project = await filled(cumulative);
  const changed = `update usage_counter_totals t set quantity = quantity + 1e-18 from usage_counters c
    where t.id = c.totals_id and c.project_id = $1 and subject_id = 'b'`;
  await fixture.rows(changed, [project.projectId]);
  const { status, counters } = await fixture.verify();
  expect(status).toBe('different');
  expect(counters.differences).toMatchObject([{ subject_id: 'b', measure: 'quantity' }]);
  await forget(project);
});

it.each<[string, Partial<Cumulative>, string, string[]]>([
  [
    'a wrong number of values',
    UNIQUE,
    "update usage_counters set value_count = value_count + 1 where project_id = $1 and subject_id = 'b'",
    ['value_count'],
  ],
  [
    'a missing value',
    UNIQUE,
    "delete from usage_counter_values where project_id = $1 and value = 'y'",
    ['values'],
  ],
  [
    'a wrong value',
    UNIQUE,
    "update usage_counter_values set value = 'z' where project_id = $1 and value = 'y'",
    ['values'],
  ],
  [
    'a quantity of one digit more',
    { aggregate: 'max' },
    "update usage_counter_values set value = '8.000000000000000001' where project_id = $1 and value = '8'",
    ['values'],
  ],
  [
    'a wrong number of charge items with a quantity',
    { aggregate: 'max' },
    "update usage_counter_values set item_count = 3 where project_id = $1 and value = '8'",
    ['values'],
  ],
])('%s that a counter keeps is found', async (_, cumulative, change, measures) => {
  const project = await filled(cumulative);
  expect((await fixture.verify()).counters.difference_count).toBe(0);
  await fixture.rows(change, [project.projectId]);
  const { status, counters } = await fixture.verify();
  expect(status).toBe('different');
  expect(counters.differences.map(({ measure }) => measure)).toEqual(measures);
  await forget(project);
});
