import type { CounterAggregate } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject } from './counted.testing.js';
import { counterTexts } from './counted-rows.testing.js';
import type { TestContent } from './project.testing.js';

const SENT: TestContent[] = [
  { customer: 'a', n: 10, model: 'x' },
  { customer: 'a', n: 5, model: 'y' },
  { customer: 'a', n: 3, model: 'y' },
];

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

/**
 * A project with a plan that voids the first event, and whose second event is then replaced: number, total and amount
 * stay the same, but not the values that are left when the first event is taken out. A total costs its square.
 */
async function planned(aggregate: CounterAggregate, replacement: TestContent) {
  const project = await countedProject(fixture, {
    total: 'total.quantity * total.quantity',
    cumulative: { aggregate, ...(aggregate === 'unique' ? { of: 'model' } : {}) },
  });
  const [, second = ''] = await project.sendAndRate(SENT);
  const filter = { ...project.everything, dimensions: { model: { in: ['x'] } } };
  const { id, status } = await project.correct({ action: 'void', filter, dry_run: true });
  expect(status).toBe('planned');
  const before = await counterTexts(project);
  await project.replace(second, { customer: 'a', ...replacement });
  expect(await counterTexts(project)).toEqual(before);
  return { project, id };
}

const CASES: [CounterAggregate, TestContent, string][] = [
  ['max', { n: 2, model: 'y' }, '3 9 2'],
  ['unique', { n: 5, model: 'x' }, '2 4 2'],
];

it.each(CASES)('a plan is stale if only the values of %s have changed', async (aggregate, replacement) => {
  const { project, id } = await planned(aggregate, replacement);
  const before = await counterTexts(project);
  await project.must(202, 'POST', `/usage/corrections/${id}/apply`);
  expect(await project.ended(id)).toMatchObject({ status: 'stale', applied: { events: 0 } });
  expect(await counterTexts(project)).toEqual(before);
});

it.each(CASES)(
  'with current counters, %s has the price of its total',
  async (aggregate, replacement, counter) => {
    const { project, id } = await planned(aggregate, replacement);
    await project.must(202, 'POST', `/usage/corrections/${id}/apply`, { counters: 'current' });
    expect(await project.ended(id)).toMatchObject({ status: 'applied', applied: { events: 1 } });
    expect(await counterTexts(project)).toEqual([counter]);
    expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
  },
);
