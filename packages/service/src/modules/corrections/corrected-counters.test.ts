import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import {
  type CountedItemView,
  countedItems,
  countedProject,
  countedRules,
  steps,
} from './counted.testing.js';
import { counterTexts } from './counted-rows.testing.js';
import type { CorrectionsProject } from './project.testing.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])';

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

async function itemsOf(
  project: CorrectionsProject,
  id: string,
): Promise<(CountedItemView & { source: string })[]> {
  return (await project.event(id)).charge_items;
}

async function reprice(project: CorrectionsProject, total: string): Promise<void> {
  await project.must(200, 'PUT', `/extractor-rule-sets/${project.ruleSetId}`, countedRules({ total }));
  await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
}

describe('a void', () => {
  it('gives back what the total then costs less, and leaves the rest on its event', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const { accountId } = await project.route('a');
    const [first = '', second = ''] = await project.sendAndRate([
      { customer: 'a', n: 8 },
      { customer: 'a', n: 8 },
    ]);
    expect(await project.void(first)).toMatchObject({ status: 'applied', events_changed: 1 });
    expect(await itemsOf(project, first)).toMatchObject([
      { amount: '6', quantity: '0', source: 'correction', unit_price: null },
    ]);
    expect((await project.event(first)).explanation.charge_items).toMatchObject([{ total: null }]);
    expect(steps(await itemsOf(project, second))).toEqual([['10', '8', '16']]);
    expect(await counterTexts(project)).toEqual(['8 16 1']);
    expect(await project.balance(accountId)).toBe('-16');
    await project.void(second);
    expect(await itemsOf(project, second)).toMatchObject([{ amount: '-6', source: 'correction' }]);
    expect(await counterTexts(project)).toEqual(['0 0 0']);
    expect(await project.balance(accountId)).toBe('0');
    expect(await fixture.verify()).toMatchObject({ status: 'equal' });
  });

  it('of all events takes out what was rated last first, and leaves nothing', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const ids = await project.sendAndRate([8, 8, 1, 5].map((n) => ({ customer: 'a', n })));
    expect(await project.correct({ action: 'void' })).toMatchObject({ status: 'applied', events_changed: 4 });
    for (const id of ids) expect(await itemsOf(project, id)).toEqual([]);
    expect(await counterTexts(project)).toEqual(['0 0 0']);
  });
});

describe('a re-rate', () => {
  it('of a whole period costs the price of its total under the new rules', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const ids = await project.sendAndRate([8, 8, 1, 5].map((n) => ({ customer: 'a', n })));
    // No event costs the same by chance, in whatever order their ids put them.
    await reprice(project, 'tier_volume(total.quantity, [[10, "3.71"], [null, "2.93"]])');
    expect(await project.correct({})).toMatchObject({ status: 'applied', events_changed: 4 });
    expect(await counterTexts(project)).toEqual(['22 64.46 4']);
    const items = (await Promise.all(ids.map((id) => itemsOf(project, id)))).flat();
    expect(items.map(({ source }) => source)).toEqual(Array(4).fill('extractor'));
    expect(items.reduce((sum, { amount }) => sum + Number(amount), 0)).toBeCloseTo(64.46, 12);
    expect(await fixture.verify()).toMatchObject({ status: 'equal' });
  });

  it('puts events in by the time at which they occurred, then by their ids', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    // An id begins with `occurred_at`; the rest is a hash.
    const ids = await project.sendAndRate([8, 8].map((n) => ({ customer: 'a', n })));
    const [second = '', third = ''] = ids.toSorted();
    const [first = ''] = await project.sendAndRate([{ customer: 'a', n: 4 }], 200);
    await reprice(project, 'total.quantity * total.quantity');
    expect(await project.correct({})).toMatchObject({ status: 'applied', events_changed: 3 });
    const items = await Promise.all([first, second, third].map((id) => itemsOf(project, id)));
    expect(steps(items.flat())).toEqual([
      ['16', '0', '4'],
      ['128', '4', '12'],
      ['256', '12', '20'],
    ]);
  });

  it('by the same rules changes nothing', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    await project.sendAndRate([{ customer: 'a', n: 8 }]);
    expect(await project.correct({})).toMatchObject({ status: 'applied', events_changed: 0 });
    expect(await counterTexts(project)).toEqual(['8 16 1']);
  });

  it('changes no event of a counter that it cannot price', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    await project.sendAndRate([
      { customer: 'a', n: 8 },
      { customer: 'a', n: 8 },
      { customer: 'b', n: 4 },
    ]);
    await reprice(project, 'tier_graduated(total.quantity, [[10, "3"]])');
    expect(await project.correct({})).toMatchObject({
      ...{ status: 'applied', events_changed: 1, events_failed: [{ code: 'pricing_failed', count: 2 }] },
    });
    expect(await counterTexts(project)).toEqual(['16 26 2', '4 12 1']);
  });
});

it('a replacement moves an event between counters', async () => {
  const project = await countedProject(fixture, { total: GRADUATED });
  const [, second = ''] = await project.sendAndRate([
    { customer: 'a', n: 8 },
    { customer: 'a', n: 8 },
  ]);
  expect(await project.replace(second, { customer: 'b', n: 3 })).toMatchObject({ status: 'applied' });
  expect(await counterTexts(project)).toEqual(['8 16 1', '3 6 1']);
  expect(await itemsOf(project, second)).toMatchObject([{ amount: '6', source: 'extractor' }]);
});

it('a revert puts back what was, also where other usage came meanwhile', async () => {
  const project = await countedProject(fixture, { total: GRADUATED });
  const [first = ''] = await project.sendAndRate([8, 8].map((n) => ({ customer: 'a', n })));
  const { id } = await project.void(first);
  await project.change(id, 'revert');
  expect(steps(await itemsOf(project, first))).toEqual([['16', '0', '8']]);
  expect(await counterTexts(project)).toEqual(['16 26 2']);
  const again = await project.void(first);
  await countedItems(project, [{ customer: 'a', n: 10 }]);
  expect(await counterTexts(project)).toEqual(['18 28 2']);
  await project.change(again.id, 'revert');
  expect(await counterTexts(project)).toEqual(['26 36 3']);
  expect(await itemsOf(project, first)).toMatchObject([
    { amount: '8', cumulative: { before: '18', after: '26' } },
    { amount: '6', source: 'correction' },
  ]);
});

it.each(['exact', 'current'] as const)('a plan whose counter has moved is applied: %s', async (how) => {
  const project = await countedProject(fixture, { total: GRADUATED });
  const ids = await project.sendAndRate([8, 8].map((n) => ({ customer: 'a', n })));
  const plan = await project.correct({ action: 'void', dry_run: true });
  await countedItems(project, [{ customer: 'a', n: 10 }]);
  await project.must(202, 'POST', `/usage/corrections/${plan.id}/apply`, { counters: how });
  const ended = await project.ended(plan.id);
  if (how === 'exact') {
    expect(ended).toMatchObject({ status: 'stale', applied: { events: 0 } });
    expect(await counterTexts(project)).toEqual(['26 36 3']);
    return;
  }
  expect(ended).toMatchObject({
    status: 'applied',
    totals: [{ amount: { before: '26', after: '0' } }],
    applied: { events: 2, totals: [{ amount: { before: '26', after: '10' } }] },
  });
  const audited = (verb: string) =>
    fixture.rows('select change from audit_log where resource_id = $1 and action = $2', [
      plan.id,
      `usage_correction.${verb}`,
    ]);
  const posted = { totals: [{ amount: { before: '26', after: '10' } }], totals_count: 1 };
  expect(await audited('apply')).toMatchObject([{ change: posted }]);
  expect(await counterTexts(project)).toEqual(['10 20 1']);
  expect((await Promise.all(ids.map((id) => itemsOf(project, id)))).flat()).toMatchObject([
    { amount: '8' },
    { amount: '2' },
  ]);
  await project.change(plan.id, 'revert');
  expect(await audited('revert')).toMatchObject([{ change: { ...posted, events_in_force: 0 } }]);
});

it.each([3, 1])(
  'an event that stays as it is costs as much, at another total, too: parts of %s',
  async (size) => {
    fixture.partEvents = size;
    const project = await countedProject(fixture, { total: GRADUATED });
    const [first = ''] = await project.sendAndRate([{ customer: 'a', n: 20 }], 300);
    await project.sendAndRate([{ customer: 'a', n: 12, calls: 6 }], 250);
    await project.sendAndRate([{ customer: 'a', n: 4, calls: 2 }], 220);
    const [kept = ''] = await project.sendAndRate([{ customer: 'a', n: 4, calls: 4 }], 200);
    const rules = countedRules({ total: GRADUATED, extractor: { path: 'calls' } });
    await project.must(200, 'PUT', `/extractor-rule-sets/${project.ruleSetId}`, rules);
    await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
    const filter = { ...project.everything, from: fixture.nowS - 290 };
    const plan = await project.correct({ filter, dry_run: true });
    expect(plan).toMatchObject({ status: 'planned', events_matched: 3, events_changed: 2 });
    await project.void(first);
    expect(await counterTexts(project)).toEqual(['20 30 3']);
    await project.must(202, 'POST', `/usage/corrections/${plan.id}/apply`, { counters: 'current' });
    expect(await project.ended(plan.id)).toMatchObject({ status: 'applied', applied: { events: 2 } });
    expect(await project.event(kept)).toMatchObject({ revision: 1, charge_items: [{ amount: '4' }] });
    expect(await counterTexts(project)).toEqual(['12 22 3']);
    await project.change(plan.id, 'revert');
    expect(await counterTexts(project)).toEqual(['20 30 3']);
    expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
  },
);
