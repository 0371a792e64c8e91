import type { Cumulative } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedItems, countedProject, countedRules, steps } from './counted.testing.js';
import type { CorrectionsProject } from './project.testing.js';

const DAY_S = 86_400;

let fixture: CorrectionsFixture;
let anyProject: CorrectionsProject;

beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
  anyProject = await countedProject(fixture, { total: 'total.quantity' });
});
afterAll(() => fixture.close());

/** Returns the paths that a refusal of a charge item extractor or of several names. */
async function refusedPaths(...extractors: object[]): Promise<string[]> {
  const rules = countedRules({ total: 'total.quantity' });
  const [valid] = rules.charge_item_extractors;
  const answer = await anyProject.call('POST', '/extractor-rule-sets', {
    ...rules,
    charge_item_extractors: extractors.map((extractor, index) => ({
      ...valid,
      name: `e${index}`,
      ...extractor,
    })),
  });
  expect(answer.status).toBe(400);
  return answer
    .json()
    .details.map(({ path }: { path: string }) => path.replace('charge_item_extractors', ''));
}

const cumulative = (changes: Partial<Cumulative>) => ({
  cumulative: { counter: 'tokens', period: 'month', per: 'subject', ...changes },
});

describe('a price by a total is refused', () => {
  it.each<[string, string[], object[]]>([
    ['beside a unit price', ['[0].unit_price_expr'], [{ unit_price_expr: 'dec("1")' }]],
    ['beside an amount', ['[0].amount_expr'], [{ amount_expr: 'dec("1")' }]],
    ['without a counter', ['[0].cumulative'], [{ cumulative: undefined }]],
    ['without an expression', ['[0].total_expr'], [{ total_expr: undefined }]],
    ['by different values of no dimension', ['[0].cumulative.of'], [cumulative({ aggregate: 'unique' })]],
    ['by a sum of values', ['[0].cumulative.of'], [cumulative({ aggregate: 'sum', of: 'model' })]],
    ['for a dimension twice', ['[0].cumulative.by[1]'], [cumulative({ by: ['model', 'model'] })]],
    ['by two counters of one name', ['[1].cumulative'], [{}, cumulative({ period: 'day' })]],
    [
      'by a dimension that the counter does not have',
      ['[0].total_expr'],
      [{ total_expr: 'dec(dimensions.model)' }],
    ],
    ['by the charge item', ['[0].total_expr'], [{ total_expr: 'item.quantity' }]],
  ])('%s', async (_case, paths, extractors) => {
    expect(await refusedPaths(...extractors)).toEqual(paths);
  });
});

describe('rules with one counter', () => {
  it('share its total, each with its own price', async () => {
    const project = await countedProject(fixture, { total: 'total.quantity' });
    const rules = countedRules({ total: 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])' });
    const [first] = rules.charge_item_extractors;
    const second = { ...first, name: 'second', path: 'calls', total_expr: 'total.quantity * dec("100")' };
    await project.must(200, 'PUT', `/extractor-rule-sets/${project.ruleSetId}`, {
      ...rules,
      charge_item_extractors: [first, second],
    });
    await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
    const items = await countedItems(project, [
      { customer: 'a', n: 8, calls: 1 },
      { customer: 'a', n: 3, calls: 2 },
    ]);
    expect(steps(items)).toEqual([
      ['16', '0', '8'],
      ['100', '8', '9'],
      ['4', '9', '12'],
      ['200', '12', '14'],
    ]);
    expect(await fixture.verify()).toMatchObject({ status: 'equal' });
  });

  it('price a late event by the version of its time, at the present total', async () => {
    const project = await countedProject(fixture, {
      total: 'total.quantity',
      cumulative: { period: 'lifetime' },
    });
    const path = `/extractor-rule-sets/${project.ruleSetId}`;
    await project.must(200, 'PUT', path, {
      ...countedRules({ total: 'total.quantity * total.quantity', cumulative: { period: 'lifetime' } }),
      effective_from: fixture.nowS - DAY_S,
    });
    await project.must(200, 'POST', `${path}/publish`);
    const now = await countedItems(project, [{ customer: 'a', n: 5 }]);
    const late = await countedItems(project, [{ customer: 'a', n: 3 }], 2 * DAY_S);
    const later = await countedItems(project, [{ customer: 'a', n: 2 }]);
    expect(steps([...now, ...late, ...later])).toEqual([
      ['25', '0', '5'],
      ['3', '5', '8'],
      ['36', '8', '10'],
    ]);
  });
});

it('counters of accounts are found by account and by rule set, and those of all time have no end', async () => {
  const lifetime = { per: 'account', period: 'lifetime' } as const;
  const project = await countedProject(fixture, { total: 'total.quantity', cumulative: lifetime });
  const { accountId: a } = await project.route('a');
  const { accountId: b } = await project.route('b');
  await project.sendAndRate([
    { customer: 'a', n: 6 },
    { customer: 'b', n: 7 },
  ]);
  const list = (query: string) => project.get(`/counters?${query}`);
  const ofA = { account_id: a, subject_type: null, subject_id: null, quantity: '6', period_end: null };
  const ofB = { account_id: b, quantity: '7', rule_set_id: project.ruleSetId };
  expect((await list(`account_id=${a}`)).counters).toMatchObject([ofA]);
  expect((await list(`account_id=${b}&rule_set_id=${project.ruleSetId}`)).counters).toMatchObject([ofB]);
  expect(await list(`rule_set_id=${project.ruleSetId}`)).toMatchObject({ total_count: 2 });
  expect(await list(`account_id=${a}&rule_set_id=ers_other`)).toMatchObject({ total_count: 0 });
});
