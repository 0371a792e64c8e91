import type { CounterAggregate } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';
import { STORED_COUNTERS } from './counted-rows.testing.js';
import type { CorrectionsProject } from './project.testing.js';

const SENT = [
  { customer: 'a', n: 8, model: 'x' },
  { customer: 'a', n: 4, model: 'y' },
  { customer: 'a', n: 2, model: 'w' },
];
const MEANWHILE = [
  { customer: 'a', n: 10, model: 'z' },
  { customer: 'a', n: 2, model: 'z' },
];
/** The totals of all events, and of those meanwhile alone. */
const TOTALS: Record<CounterAggregate, readonly [all: number, meanwhile: number]> = {
  sum: [26, 12],
  count: [5, 2],
  max: [10, 10],
  unique: [4, 1],
};
const AGGREGATES = Object.entries(TOTALS) as [CounterAggregate, readonly [number, number]][];

let fixture: CorrectionsFixture;

beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
  fixture.partEvents = 1;
  fixture.partsPerStep = 1;
});
afterAll(() => fixture.close());

/** A project with three events, of which each is a part. A total costs its square: then each step has its own price. */
async function filled(aggregate: CounterAggregate): Promise<CorrectionsProject> {
  const of = aggregate === 'unique' ? { of: 'model' } : {};
  const project = await countedProject(fixture, {
    total: 'total.quantity * total.quantity',
    cumulative: { aggregate, ...of },
  });
  // Parts are in the order of time.
  for (const [index, content] of SENT.entries()) await project.send([content], 300 - index);
  await fixture.settle();
  return project;
}

/** The same, with twice the prices for later usage. */
async function repriced(): Promise<CorrectionsProject> {
  const project = await filled('sum');
  const path = `/extractor-rule-sets/${project.ruleSetId}`;
  const total = 'total.quantity * (total.quantity + total.quantity)';
  await project.must(200, 'PUT', path, countedRules({ total }));
  await project.must(200, 'POST', `${path}/publish`);
  return project;
}

function counterOf(total: number) {
  return { quantity: `${total}`, amount: `${total ** 2}` };
}

async function storedCounter({ projectId }: CorrectionsProject) {
  const rows = await fixture.rows(
    `select trim_scale(t.quantity)::text as quantity, trim_scale(t.amount)::text as amount
     from ${STORED_COUNTERS} where c.project_id = $1`,
    [projectId],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

/** Rates an event after each part but the last, and ends the correction. */
async function rateBetween(project: CorrectionsProject, id: string, eventsInForce: readonly number[]) {
  for (const [index, content] of MEANWHILE.entries()) {
    await stepUntil(project, id, eventsInForce[index] ?? -1);
    await project.send([content]);
    await fixture.rate();
  }
  return project.ended(id);
}

async function stepUntil(project: CorrectionsProject, id: string, events: number): Promise<void> {
  for (let step = 0; step < 10; step++) {
    if ((await project.correction(id)).applied.events === events) return;
    await fixture.project();
    await fixture.advance(fixture.api.postgres, 1);
  }
  throw new Error(`the correction does not get to ${events} events`);
}

/** Starts to apply a plan; no part is applied yet. */
async function applying(
  project: CorrectionsProject,
  action: 'void' | 'rerate',
  counters: 'current' | 'exact',
): Promise<string> {
  const { id } = await project.correct({ action, dry_run: true });
  await project.must(202, 'POST', `/usage/corrections/${id}/apply`, { counters });
  return id;
}

it.each(AGGREGATES)(
  'a revert charges the price of the total of %s, whatever is rated between its parts',
  async (aggregate, [all]) => {
    const project = await filled(aggregate);
    const { id } = await project.correct({ action: 'void' });
    await project.must(202, 'POST', `/usage/corrections/${id}/revert`);
    expect(await rateBetween(project, id, [2, 1])).toMatchObject({ status: 'reverted' });
    expect(await storedCounter(project)).toEqual(counterOf(all));
  },
);

it.each(AGGREGATES)(
  'a void charges the price of the total of %s, whatever is rated between its parts; so does its revert',
  async (aggregate, [all, meanwhile]) => {
    const project = await filled(aggregate);
    const id = await applying(project, 'void', 'current');
    expect(await rateBetween(project, id, [1, 2])).toMatchObject({ status: 'applied' });
    expect(await storedCounter(project)).toEqual(counterOf(meanwhile));
    await project.must(202, 'POST', `/usage/corrections/${id}/revert`);
    expect(await project.ended(id)).toMatchObject({ status: 'reverted' });
    expect(await storedCounter(project)).toEqual(counterOf(all));
  },
);

it('a correction that applies exactly its plan ends at the part before which usage is rated', async () => {
  const project = await filled('sum');
  const id = await applying(project, 'void', 'exact');
  await stepUntil(project, id, 1);
  await project.sendAndRate(MEANWHILE.slice(0, 1));
  expect(await project.ended(id)).toMatchObject({ status: 'stale', applied: { events: 1 } });
});

it('new prices of a period are the same, whether usage is rated between parts or before them', async () => {
  const between = await repriced();
  const id = await applying(between, 'rerate', 'current');
  expect(await rateBetween(between, id, [1, 2])).toMatchObject({ status: 'applied' });
  const before = await repriced();
  const other = await applying(before, 'rerate', 'current');
  await before.send(MEANWHILE);
  await fixture.rate();
  expect(await before.ended(other)).toMatchObject({ status: 'applied', applied: { events: SENT.length } });
  expect(await storedCounter(between)).toEqual(await storedCounter(before));
  expect(await storedCounter(before)).toEqual({ quantity: '26', amount: '1688' });
});

it('counters are the sums of their charge items after all of this', async () => {
  expect(await fixture.verify()).toMatchObject({ status: 'equal', counters: { difference_count: 0 } });
  expect(fixture.defects).toEqual([]);
});
