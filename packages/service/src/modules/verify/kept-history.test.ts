import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { createLog } from '../../platform/log/index.js';
import { createMetrics } from '../../platform/metrics/index.js';
import {
  batchRecord,
  createProject,
  createTestClickHouse,
  PipelineFixture,
  TEST_DAY,
  type TestClickHouse,
  type TestProject,
  testEvent,
  waitFor,
} from '../../testing/index.js';
import { createProjector } from '../pipeline/index.js';
import { createRetentionJob, storageTables } from '../storage/index.js';
import { verifyUsage } from './index.js';

const DAY_S = 86_400;
const HOUR_MS = 3_600_000;
const OBSERVER = { stage: () => {}, group: () => {}, groupFailed: () => {}, spoolCorrupt: () => {} };
const log = createLog({ level: 'silent' });

let fixture: PipelineFixture;
let house: TestClickHouse;
let shared: TestProject;
let own: TestProject;
let clock: ManualClock;
let keys = 0;

beforeEach(async () => {
  [fixture, house] = await Promise.all([PipelineFixture.create(), createTestClickHouse()]);
  shared = fixture.project;
  own = await createProject(fixture.postgres, 'ten_a', 'prj_own', 'dedicated');
  await house.provision(own.projectNo);
  clock = new ManualClock(PipelineFixture.nowMs);
});

afterEach(async () => {
  await Promise.all([fixture.drop(), house.drop()]);
});

const verify = () => verifyUsage({ postgres: fixture.postgres, clickhouse: house.clickhouse, log });

/** Adds an event of both projects on each of the days, and copies it into ClickHouse. */
async function addHistory(...daysAgo: number[]): Promise<void> {
  const { postgres, spool } = fixture;
  const events = daysAgo.map((days) =>
    testEvent(`k${keys++}`, { occurred_at: (TEST_DAY - days) * DAY_S + 5 }),
  );
  await fixture.accept(batchRecord(shared, events), batchRecord(own, events));
  await fixture.worker().drain();
  await createProjector({ postgres, clickhouse: house.clickhouse, spool, clock, observer: OBSERVER }).drain();
}

/** Sets the retention to a number of days, and waits for all deletions. */
async function keep(days: number): Promise<void> {
  const job = createRetentionJob({
    ...{ postgres: fixture.postgres, clickhouse: house.clickhouse, clock, metrics: createMetrics(), log },
    policy: { retentionOf: async () => ({ shownDays: days, keptDays: days }) },
  });
  for (let sweep = 0; sweep < 2; sweep++) {
    expect(await job.sweep()).toBe(true);
    clock.advanceMs(HOUR_MS);
  }
  const undone = 'SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';
  await waitFor(async () => (await house.clickhouse.query(undone)).length === 0);
}

async function rowsLeft(project: TestProject): Promise<number> {
  const found = await house.clickhouse.query<{ n: number }>(
    `SELECT toUInt32(count()) AS n FROM ${storageTables(project).events}`,
  );
  return found[0]?.n ?? 0;
}

describe('verifyUsage', () => {
  it('recounts projects that have tables of their own with the others', async () => {
    await addHistory(0, 1, 40);
    expect(await verify()).toMatchObject({ status: 'equal', days_compared: 6, difference_count: 0 });
  });

  it('finds what is missing in, or changed in, the tables of one project', async () => {
    await addHistory(0);
    const { rollup } = storageTables(own);
    await house.clickhouse.command(
      `ALTER TABLE ${rollup} UPDATE amount = amount + 1 WHERE resolution = 900 AND item_count > 0 SETTINGS mutations_sync = 2`,
    );
    expect(await verify()).toMatchObject({
      status: 'different',
      difference_count: 1,
      differences: [{ project_id: 'prj_own', store: 'usage_rollup_15m', expected: '2', found: '3' }],
    });
  });

  it('does not take rows for a project’s that are in the tables of others', async () => {
    await addHistory(0);
    await house.clickhouse.command(`INSERT INTO usage_events SELECT * FROM ${storageTables(own).events}`);
    await house.clickhouse.command(`TRUNCATE TABLE ${storageTables(own).events}`);
    const report = await verify();
    expect(report.status).toBe('different');
    expect(
      report.differences.every(({ project_id, found }) => project_id === 'prj_own' && found === '0'),
    ).toBe(true);
  });

  it('judges what is kept, while the rest is there and when it is gone', async () => {
    await addHistory(0, 1, 40, 100);
    const [before] = [await verify()];
    expect(before).toMatchObject({ status: 'equal' });
    await keep(30);
    // Usage that is 40 days old belongs to a month that is not over yet: it is stored, but hidden.
    expect([await rowsLeft(shared), await rowsLeft(own)]).toEqual([3, 3]);
    const after = await verify();
    expect(after).toMatchObject({ status: 'equal', days_compared: 8, totals: before.totals });
    expect(after.values_compared).toBeLessThan(before.values_compared);
  });

  it('still finds what is missing of what is kept', async () => {
    await addHistory(0, 1, 40);
    await keep(30);
    await house.clickhouse.command(
      `ALTER TABLE usage_events DELETE WHERE occurred_at >= ${TEST_DAY * DAY_S} SETTINGS mutations_sync = 2`,
    );
    const report = await verify();
    expect(report.status).toBe('different');
    expect(new Set(report.differences.map(({ day }) => day))).toEqual(
      new Set([new Date(TEST_DAY * DAY_S * 1_000).toISOString().slice(0, 10)]),
    );
  });

  it('knows that late events are posted, and are not in the history', async () => {
    await addHistory(0);
    await keep(30);
    await addHistory(80);
    expect(await verify()).toMatchObject({ status: 'equal' });
    await keep(30);
    expect([await rowsLeft(shared), await rowsLeft(own)]).toEqual([1, 1]);
    expect(await verify()).toMatchObject({ status: 'equal' });
  });
});
