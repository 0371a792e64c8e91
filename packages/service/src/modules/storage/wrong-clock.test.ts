import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRetentionFixture, type RetentionFixture } from './retention.testing.js';
import { GAP_WAIT_MS, SWEEP_INTERVAL_MS } from './retention-job.js';

const YEAR_MS = 366 * 24 * 3_600_000;

let fixture: RetentionFixture;
beforeEach(async () => {
  fixture = await createRetentionFixture();
});
afterEach(() => fixture.drop());

it('a clock that is a year ahead for less than an hour hides and deletes nothing', async () => {
  const project = await fixture.newProject('ten_a');
  await fixture.insert(project, '2028-03-15T00:00:00Z');
  fixture.retentionDays = { ten_a: 30 };
  await fixture.job().sweep();
  let monotonicMs = 0;
  fixture.monotonicMs = () => monotonicMs;
  const job = fixture.job();
  fixture.clock.advanceMs(YEAR_MS);
  for (const afterMs of [0, GAP_WAIT_MS - 1]) {
    monotonicMs = afterMs;
    expect(await job.sweep()).toBe(false);
  }
  expect(fixture.warnings).toHaveLength(1);
  fixture.clock.advanceMs(SWEEP_INTERVAL_MS - YEAR_MS);
  expect(await job.sweep()).toBe(true);
  expect([await fixture.boundary(project), await fixture.daysLeft(project)]).toEqual([
    '2028-03-02',
    ['2028-03-15'],
  ]);
});

it('history of the time of a long stop is deleted an hour after the start', async () => {
  const project = await fixture.newProject('ten_a');
  fixture.retentionDays = { ten_a: 30 };
  await fixture.job().sweep();
  let monotonicMs = 0;
  fixture.monotonicMs = () => monotonicMs;
  const job = fixture.job();
  fixture.clock.advanceMs(YEAR_MS);
  expect(await job.sweep()).toBe(false);
  monotonicMs = GAP_WAIT_MS;
  expect(await job.sweep()).toBe(true);
  expect(await fixture.boundary(project)).toBe('2029-03-03');
});

it('sweeps go on after a clock that was ahead is set back', async () => {
  fixture.clock.advanceMs(YEAR_MS);
  expect(await fixture.job().sweep()).toBe(true);
  fixture.clock.advanceMs(-YEAR_MS);
  expect(await fixture.job().sweep()).toBe(true);
  fixture.clock.advanceMs(SWEEP_INTERVAL_MS - 1);
  expect(await fixture.job().sweep()).toBe(false);
});
