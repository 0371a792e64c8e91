import { COUNTER_VALUES_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject } from './counted.testing.js';
import type { CorrectionsProject, TestContent } from './project.testing.js';

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

/** Sends events one after the other; returns the amount of each, or why it failed. */
async function outcomes(project: CorrectionsProject, ...contents: TestContent[]): Promise<string[]> {
  const found: string[] = [];
  for (const content of contents) {
    const [id = ''] = await project.sendAndRate([content]);
    const { failure, charge_items: items } = await project.event(id);
    found.push(failure?.code ?? items[0].amount);
  }
  return found;
}

it.each([
  ['distinct values', { aggregate: 'unique', of: 'model' } as const],
  ['the greatest quantity', { aggregate: 'max' } as const],
])('a counter of %s keeps a bounded number of them', async (_, aggregate) => {
  const project = await countedProject(fixture, { total: 'total.quantity', cumulative: aggregate });
  const known = { customer: 'a', n: 1, model: 'x' };
  expect(await outcomes(project, known)).toEqual(['1']);
  await fixture.rows('update usage_counters set value_count = $2 where project_id = $1', [
    ...[project.projectId, COUNTER_VALUES_MAX - 1],
  ]);
  // Another worker: this one remembers the counter.
  const worker = fixture.createWorker(fixture.api.postgres);
  await project.send([{ customer: 'a', n: 2, model: 'y' }]);
  await worker.drain();
  expect(await outcomes(project, { customer: 'a', n: 3, model: 'z' }, known)).toEqual(['counter_full', '0']);
});

it('a revert ends as stale if its counter is full', async () => {
  const project = await countedProject(fixture, {
    ...{ total: 'total.quantity', cumulative: { aggregate: 'max' } },
  });
  const [voided = ''] = await project.sendAndRate([{ customer: 'a', n: 2 }]);
  const { id } = await project.void(voided);
  expect(await outcomes(project, { customer: 'a', n: 3 })).toEqual(['3']);
  await fixture.rows('update usage_counters set value_count = $2 where project_id = $1', [
    ...[project.projectId, COUNTER_VALUES_MAX],
  ]);
  expect(await project.change(id, 'revert')).toMatchObject({
    status: 'stale',
    failure: { code: 'correction_stale', message: expect.stringContaining('COUNTER_VALUES_MAX') },
  });
  expect(await project.event(voided)).toMatchObject({ status: 'voided', revision: 2 });
  expect(fixture.warnings).toEqual([]);
});

it('a total has 20 integer digits at most', async () => {
  const project = await countedProject(fixture, {
    total: 'dec("1")',
    extractor: { type: 'decimal_string' },
  });
  const half = { customer: 'a', n: '50000000000000000000' };
  const rest = { customer: 'a', n: '49999999999999999999.999999999999999999' };
  expect(await outcomes(project, half, half, rest)).toEqual(['1', 'decimal_out_of_range', '0']);
});
