import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture, type Storage } from './corrections.testing.js';
import { countedItems, countedProject } from './counted.testing.js';
import { counterTexts, storedCounters } from './counted-rows.testing.js';
import type { CorrectionsProject } from './project.testing.js';
import { LIMIT_RULES } from './window-oracle.testing.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])';

const fixtures = {} as Record<Storage, CorrectionsFixture>;
beforeAll(async () => {
  for (const storage of ['shared', 'dedicated'] as const)
    fixtures[storage] = await CorrectionsFixture.open(storage);
});
afterAll(async () => {
  for (const fixture of Object.values(fixtures)) await fixture.close();
});

async function limitedProject(fixture: CorrectionsFixture): Promise<[CorrectionsProject, string]> {
  const project = await countedProject(fixture, { total: GRADUATED, extractor: { unit: 'token' } });
  const plan = { name: 'plan', title: 'Plan', rules: LIMIT_RULES };
  const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', plan);
  await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
  return [project, (await project.route('a', planId)).accountId];
}

async function windowsOf({ fixture, projectId }: CorrectionsProject): Promise<string[]> {
  const rows = await fixture.rows<{ text: string }>(
    `select r.limit_key || ' ' || trim_scale(w.used) as text from limit_windows w join limit_rules r on r.no = w.rule_no
     where r.project_id = $1 order by 1`,
    [projectId],
  );
  return rows.map(({ text }) => text);
}

const MEASURES = ['item_count', 'quantity', 'amount', 'minimum', 'maximum', 'average', 'p50', 'unique:model'];

it.each(['shared', 'dedicated'] as const)(
  'an amount that is left is not counted: %s storage',
  async (storage) => {
    const fixture = fixtures[storage];
    const [project] = await limitedProject(fixture);
    const [first = ''] = await project.sendAndRate([
      { customer: 'a', n: 8, model: 'x' },
      { customer: 'a', n: 6, model: 'y' },
    ]);
    await project.void(first);
    const range = project.everything;
    const sums = { quantity: '6', item_count: 1, amount: '12' };
    for (const bucket_size of ['1m', '15m', '1h', 'none']) {
      const query = { time_range: range, bucket_size, metrics: ['llm.tokens'] };
      const some = { ...query, measures: ['item_count', 'quantity', 'amount'] };
      expect((await project.must(200, 'POST', '/analysis/query', some)).rows).toMatchObject([sums]);
      const { rows } = await project.must(200, 'POST', '/analysis/query', { ...query, measures: MEASURES });
      const compared = { minimum: '6', maximum: '6', average: '6', p50: '6', 'unique:model': 1 };
      expect(rows).toMatchObject([{ ...sums, ...compared }]);
      const grouped = await project.must(200, 'POST', '/analysis/query', { ...some, group_by: ['model'] });
      expect(
        grouped.rows.map(({ amount, item_count }: Record<string, unknown>) => [amount, item_count]),
      ).toEqual([
        ['4', 0],
        ['8', 1],
      ]);
    }
    expect(await windowsOf(project)).toEqual(['count 1', 'day 12', 'max 6', 'month 6', 'unique 1']);
    const totals = await fixture.rows(
      'select item_count, trim_scale(amount) as amount from usage_totals where project_id = $1',
      [project.projectId],
    );
    expect(totals).toEqual([{ item_count: 1, amount: '12' }]);
    const { metrics } = await project.get('/usage/metrics');
    expect(metrics).toMatchObject([{ metric: 'llm.tokens', unpriced_item_count: 0 }]);
    expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
  },
);

it('a row that only has an amount that is left has no quantities, no unit, and its place among groups', async () => {
  const [project] = await limitedProject(fixtures.shared);
  const [first = ''] = await project.sendAndRate([
    { customer: 'a', n: 8, model: 'x' },
    { customer: 'a', n: 6, model: 'y' },
  ]);
  await project.void(first);
  const query = { time_range: project.everything, bucket_size: 'none', group_by: ['model'] };
  const rowsBy = async (fields: object) =>
    (await project.must(200, 'POST', '/analysis/query', { ...query, ...fields })).rows;
  const none = { item_count: 0, amount: '4', minimum: null, maximum: null, average: null, p50: null };
  const measured = { minimum: '6', maximum: '6', average: '6', p50: '6' };
  expect(await rowsBy({ measures: MEASURES })).toMatchObject([
    { group: { model: 'x' }, ...none, quantity: '0', 'unique:model': 0 },
    { group: { model: 'y' }, ...measured, 'unique:model': 1 },
  ]);
  // The rollup has averages.
  expect(await rowsBy({ measures: ['average', 'amount'] })).toMatchObject([
    { average: null, amount: '4' },
    { average: '6', amount: '8' },
  ]);
  for (const measure of ['quantity', 'minimum'])
    expect(await rowsBy({ split_by: [], measures: [measure, 'amount'] })).toMatchObject([
      { group: { model: 'x' }, amount: '4' },
      { group: { model: 'y' }, amount: '8' },
    ]);
  for (const first of ['item_count', 'minimum', 'unique:model', 'amount'])
    expect(await rowsBy({ limit: 2, measures: [...new Set([first, 'amount'])] })).toMatchObject([
      { group: { model: 'x' }, other: false, amount: '4' },
      { group: { model: 'y' }, other: false, amount: '8' },
    ]);
});

it('is merged by later corrections, and kept until its event costs nothing', async () => {
  const fixture = fixtures.shared;
  const [project, accountId] = await limitedProject(fixture);
  const [first = ''] = await project.sendAndRate([8, 8, 8].map((n) => ({ customer: 'a', n })));
  await project.void(first);
  const left = async () => (await project.event(first)).charge_items;
  expect(await left()).toMatchObject([{ source: 'correction', amount: '8' }]);
  fixture.clock.advanceMs(1_000);
  await project.replace(first, { customer: 'a', n: 1 });
  expect(await left()).toMatchObject([
    { source: 'extractor', amount: '1', quantity: '1' },
    { source: 'correction', amount: '8', quantity: '0' },
  ]);
  fixture.clock.advanceMs(1_000);
  await countedItems(project, [{ customer: 'a', n: 3 }]);
  await project.correct({ action: 'void', filter: { ...project.everything, subject_id: 'a' } });
  expect(await project.balance(accountId)).toBe('0');
  expect(await left()).toMatchObject([{ source: 'correction', amount: '8' }]);
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
});

it('an amount that is left has the account that has paid, and brings no usage into its counter', async () => {
  const fixture = fixtures.shared;
  const project = await countedProject(fixture, { total: GRADUATED, cumulative: { per: 'account' } });
  const { accountId } = await project.route('a');
  const [first = ''] = await project.sendAndRate([8, 6].map((n) => ({ customer: 'a', n })));
  fixture.clock.advanceMs(1_000);
  await project.replace(first, { customer: 'c', n: 5 });
  const unpriced = { quantity: '5', pricing_source: 'unpriced', ledger_transaction_id: null };
  const left = { source: 'correction', amount: '4', ledger_transaction_id: expect.any(String) };
  const state = async () => ({
    items: (await project.event(first)).charge_items,
    counters: (await storedCounters(project)).map(({ quantity, itemCount }) => [+quantity, itemCount]),
    balance: await project.balance(accountId),
  });
  const expected = { items: [unpriced, left], counters: [[6, 1]], balance: '-12' };
  expect(await state()).toMatchObject(expected);
  const rerate = async () => {
    fixture.clock.advanceMs(1_000);
    return project.correct({ action: 'rerate', filter: { ...project.everything, subject_id: 'c' } });
  };
  expect(await rerate()).toMatchObject({ status: 'applied', applied: { events: 0 } });
  expect(await state()).toMatchObject(expected);
  // By a route that came since, another account pays: also what is left, because an event has one account.
  const { accountId: other } = await project.route('c');
  expect(await rerate()).toMatchObject({ status: 'applied', applied: { events: 1 } });
  expect(await state()).toMatchObject({ items: [{ quantity: '5', amount: '10' }, left], balance: '-8' });
  expect(await project.balance(other)).toBe('-14');
  const quantities = new Map(
    (await storedCounters(project)).map(({ account, quantity }) => [account, +quantity]),
  );
  expect(quantities).toEqual(
    new Map([
      [accountId, 6],
      [other, 5],
    ]),
  );
  const nothing = { difference_count: 0 };
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: nothing, ledger: nothing });
});

it('a correction and its revert leave analysis, wallets and windows as they were', async () => {
  const fixture = fixtures.shared;
  const [project, accountId] = await limitedProject(fixture);
  const ids = await project.sendAndRate([8, 3, 9, 1, 5].map((n) => ({ customer: 'a', n, model: 'x' })));
  await project.sendAndRate([{ customer: 'a', n: 4 }], 400);
  await project.void(ids[2] ?? '');
  const range = project.everything;
  const answers = async () => {
    const found: unknown[] = [await windowsOf(project), await project.balance(accountId)];
    for (const bucket_size of ['1m', '1h', 'none']) {
      const query = { time_range: range, bucket_size, metrics: ['llm.tokens'], group_by: ['model'] };
      found.push((await project.must(200, 'POST', '/analysis/query', query)).rows);
    }
    for (const id of ids) {
      const { charge_items } = await project.event(id);
      found.push(
        charge_items.map(({ ledger_transaction_id: _id, ...item }: Record<string, unknown>) => item),
      );
    }
    return JSON.stringify(found);
  };
  const before = await answers();
  // More events than a part has.
  const { id } = await project.correct({ action: 'void', filter: range });
  expect(await answers()).not.toBe(before);
  expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted' });
  expect(await answers()).toBe(before);
});

it.each([
  { earlier: 'of a counter', sent: { n: 8 }, replaced: { n: 7 }, balance: '-8' },
  // The remainder alone is posted: to the account that has paid.
  { earlier: 'of no counter', sent: {}, replaced: { model: 'x' }, balance: '-12' },
])('a revert keeps what a later correction has left of another counter: $earlier', async (usage) => {
  const fixture = fixtures.shared;
  const project = await countedProject(fixture, { total: GRADUATED });
  const { accountId } = await project.route('b');
  const [id = ''] = await project.sendAndRate([{ customer: 'a', ...usage.sent }]);
  const { id: earlier } = await project.replace(id, { customer: 'a', ...usage.replaced });
  const { id: later } = await project.replace(id, { customer: 'b', n: 8 });
  await project.sendAndRate([{ customer: 'b', n: 6 }]);
  const left = { source: 'correction', amount: '4' };
  for (const each of [later, earlier]) {
    expect(await project.change(each, 'revert')).toMatchObject({ status: 'reverted' });
    expect((await project.event(id)).charge_items.at(-1)).toMatchObject(left);
  }
  expect((await counterTexts(project)).at(-1)).toBe('6 12 1');
  expect(await project.balance(accountId)).toBe(usage.balance);
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
});
