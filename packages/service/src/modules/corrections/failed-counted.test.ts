import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject } from './counted.testing.js';
import { counterTexts } from './counted-rows.testing.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])';
const EIGHT = { customer: 'a', n: 8 };

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

it('an event fails again in a revert, and takes its amount with it', async () => {
  const project = await countedProject(fixture, { total: GRADUATED });
  const [failed = ''] = await project.sendAndRate([{ customer: 'a', n: 'eight' }]);
  const { id } = await project.replace(failed, EIGHT);
  expect(await counterTexts(project)).toEqual(['8 16 1']);
  expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted' });
  expect(await project.event(failed)).toMatchObject({ status: 'failed', charge_items: [] });
  expect(await counterTexts(project)).toEqual(['0 0 0']);
});

it.each([
  { usage: 'before it', isFirst: false, isVoided: true, counter: '8 16 1', left: '0 0 0' },
  { usage: 'after it', isFirst: true, isVoided: false, counter: '16 26 2', left: '8 16 1' },
])('a revert that would leave an amount to no event ends as stale: $usage', async (usage) => {
  const project = await countedProject(fixture, { total: GRADUATED });
  const { accountId } = await project.route('a');
  const [failed = ''] = await project.sendAndRate([{ customer: 'a', n: 'eight' }]);
  const [other = ''] = usage.isFirst ? [] : await project.sendAndRate([EIGHT]);
  const { id } = await project.replace(failed, EIGHT);
  if (usage.isFirst) await project.sendAndRate([EIGHT]);
  if (usage.isVoided) await project.void(other);
  expect(await counterTexts(project)).toEqual([usage.counter]);
  expect(await project.change(id, 'revert')).toMatchObject({
    status: 'stale',
    failure: { code: 'correction_stale', message: expect.stringContaining('Void the event instead.') },
  });
  expect(await counterTexts(project)).toEqual([usage.counter]);
  expect(await project.void(failed)).toMatchObject({ status: 'applied' });
  expect(await counterTexts(project)).toEqual([usage.left]);
  expect(await project.balance(accountId)).toBe(usage.isVoided ? '0' : '-16');
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
  expect(fixture.defects).toEqual([]);
});

it.each([
  { counter: 'its own', customer: 'a', isVoided: true },
  { counter: 'another one', customer: 'b', isVoided: false },
])('a revert that would leave an earlier remainder to no event ends as stale: $counter', async (later) => {
  const { customer, isVoided } = later;
  const project = await countedProject(fixture, { total: GRADUATED });
  const [failed = ''] = await project.sendAndRate([{ customer: 'a', n: 'eight' }]);
  const { id } = await project.replace(failed, EIGHT);
  const usage = (n: number) => project.sendAndRate([{ customer, n }]);
  if (isVoided) await usage(6);
  const other = isVoided ? await project.void(failed) : await project.replace(failed, { customer, n: 8 });
  await usage(isVoided ? 1 : 6);
  expect(await project.change(other.id, 'revert')).toMatchObject({ status: 'reverted' });
  expect((await project.event(failed)).charge_items).toMatchObject([
    { source: 'extractor' },
    { source: 'correction', amount: '4' },
  ]);
  const counters = await counterTexts(project);
  expect(await project.change(id, 'revert')).toMatchObject({
    status: 'stale',
    failure: { code: 'correction_stale', message: expect.stringContaining('Void the event instead.') },
  });
  expect(await counterTexts(project)).toEqual(counters);
  expect(await project.void(failed)).toMatchObject({ status: 'applied' });
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
  expect(fixture.defects).toEqual([]);
});
