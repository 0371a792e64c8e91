import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics/index.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { createCorrectionProgressJob } from './progress.js';
import { CorrectionsProject } from './project.testing.js';

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
  project = await CorrectionsProject.create(fixture, { token: '1' });
});
afterAll(() => fixture.close());

/** Returns the number of corrections in progress, and for how many seconds one has made no step. */
async function measured(): Promise<number[]> {
  const metrics = createMetrics();
  const { postgres, clock } = fixture.api;
  await createCorrectionProgressJob({ postgres, clock, metrics, log: { warn: () => {} } }).sweep();
  const text = await metrics.metrics();
  return ['in_progress', 'oldest_step_seconds'].map((name) =>
    Number(new RegExp(`^tollgate_corrections_${name} (\\S+)$`, 'm').exec(text)?.[1]),
  );
}

it('measures for how long a correction in progress has made no step', async () => {
  await project.sendAndRate(Array.from({ length: 8 }, () => ({ n: 1 })));
  expect(await measured()).toEqual([0, 0]);
  const id = await project.start({ action: 'void', dry_run: true });
  fixture.clock.advanceMs(20_000);
  expect(await measured()).toEqual([1, 20]);
  expect(await project.ended(id)).toMatchObject({ status: 'planned' });
  const plannedAtMs = fixture.clock.nowMs();
  expect(await fixture.rows('select progressed_at_ms from usage_corrections')).toEqual([
    { progressed_at_ms: plannedAtMs },
  ]);
  fixture.clock.advanceMs(50_000);
  expect(await measured()).toEqual([0, 0]);

  await project.must(202, 'POST', `/usage/corrections/${id}/apply`);
  // Each step fails for as long as a table is away.
  await fixture.rows('alter table usage_correction_totals rename to mislaid');
  fixture.clock.advanceMs(30_000);
  await fixture.advance();
  expect(fixture.warnings).toHaveLength(1);
  expect(await measured()).toEqual([1, 30]);
  await fixture.rows('alter table mislaid rename to usage_correction_totals');
  expect(await project.ended(id)).toMatchObject({ status: 'applied', applied: { events: 8 } });
  expect(await measured()).toEqual([0, 0]);
});
