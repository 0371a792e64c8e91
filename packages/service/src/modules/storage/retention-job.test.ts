import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics/index.js';
import { correctedRows, insertCorrections, insertUsageRows, usageRow, waitFor } from '../../testing/index.js';
import { createRetentionFixture, IN_DELETION, type RetentionFixture } from './retention.testing.js';
import { SWEEP_INTERVAL_MS, SWEEP_RETRY_MS } from './retention-job.js';
import { storageTables } from './tables.js';

const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text) / 1_000;

let fixture: RetentionFixture;
beforeEach(async () => {
  fixture = await createRetentionFixture();
});
afterEach(() => fixture.drop());

describe('the boundary of what is kept', () => {
  it('lies so many whole days before today, in UTC, and moves at midnight', async () => {
    const project = await fixture.newProject('ten_a');
    fixture.retentionDays = { ten_a: 30 };
    fixture.clock.advanceMs(12 * HOUR_MS - 1);
    await fixture.job().sweep();
    expect(await fixture.boundary(project)).toBe('2028-03-02');
    fixture.clock.advanceMs(SWEEP_INTERVAL_MS);
    await fixture.job().sweep();
    expect(await fixture.boundary(project)).toBe('2028-03-03');
  });

  it('counts the leap day', async () => {
    const project = await fixture.newProject('ten_a');
    fixture.retentionDays = { ten_a: 32 };
    await fixture.job().sweep();
    expect(await fixture.boundary(project)).toBe('2028-02-29');
  });

  it('never moves back: what was not kept once is not kept again', async () => {
    const project = await fixture.newProject('ten_a');
    fixture.retentionDays = { ten_a: 30 };
    await fixture.job().sweep();
    for (const days of [90, -1]) {
      fixture.retentionDays = { ten_a: days };
      fixture.clock.advanceMs(SWEEP_INTERVAL_MS);
      await fixture.job().sweep();
      expect(await fixture.boundary(project)).toBe('2028-03-02');
    }
  });

  it('is that of each tenant, and none without a limit; 0 keeps today', async () => {
    const projects = [
      await fixture.newProject('ten_a'),
      await fixture.newProject('ten_b'),
      await fixture.newProject('ten_c'),
    ];
    fixture.retentionDays = { ten_a: 0, ten_b: 1 };
    await fixture.job().sweep();
    expect(await Promise.all(projects.map(fixture.boundary))).toEqual([
      '2028-04-01',
      '2028-03-31',
      undefined,
    ]);
  });
});

describe.each(['shared', 'dedicated'] as const)('history in %s tables', (storage) => {
  const TIMES = [
    '2028-01-31T23:59:59Z',
    '2028-02-01T00:00:00Z',
    '2028-02-29T23:59:59Z',
    '2028-03-01T00:00:00Z',
  ];

  it('is kept while a day of its month is, and goes with the month', async () => {
    const project = await fixture.newProject('ten_a', storage);
    await fixture.insert(project, ...TIMES);
    // The last day of February is the first that is kept.
    fixture.retentionDays = { ten_a: 32 };
    await fixture.sweepTwice();
    expect(await fixture.daysLeft(project)).toEqual(['2028-02-01', '2028-02-29', '2028-03-01']);
    fixture.clock.advanceMs(12 * HOUR_MS);
    await fixture.sweepTwice();
    expect(await fixture.boundary(project)).toBe('2028-03-01');
    expect(await fixture.daysLeft(project)).toEqual(['2028-03-01']);
  });

  it('is not touched before its boundary is known everywhere, whatever process dies in between', async () => {
    const project = await fixture.newProject('ten_a', storage);
    await fixture.insert(project, ...TIMES);
    fixture.retentionDays = { ten_a: 10 };
    expect(await fixture.job().sweep()).toBe(true);
    expect(await fixture.boundary(project)).toBe('2028-03-22');
    expect(await fixture.daysLeft(project)).toHaveLength(4);
    fixture.clock.advanceMs(SWEEP_INTERVAL_MS);
    const away = () => Promise.reject(new Error('away'));
    const lost = { query: away, command: away, systemTable: (name: string) => name };
    await expect(fixture.job({ clickhouse: lost }).sweep()).rejects.toThrow('away');
    expect(await fixture.daysLeft(project)).toHaveLength(4);
    expect(await fixture.job().sweep()).toBe(false);
    fixture.clock.advanceMs(SWEEP_RETRY_MS);
    expect(await fixture.job().sweep()).toBe(true);
    expect(await fixture.daysLeft(project)).toEqual(['2028-03-01']);
  });

  it('that comes too late goes with the next sweep', async () => {
    const project = await fixture.newProject('ten_a', storage);
    fixture.retentionDays = { ten_a: 10 };
    await fixture.sweepTwice();
    await fixture.insert(project, ...TIMES);
    expect(await fixture.job().sweep()).toBe(true);
    expect(await fixture.daysLeft(project)).toEqual(['2028-03-01']);
  });
});

it('leaves alone what others keep of the same months', async () => {
  const [short, long, all] = [
    await fixture.newProject('ten_a'),
    await fixture.newProject('ten_b'),
    await fixture.newProject('ten_c'),
  ];
  const TIMES = [
    '2027-12-15T00:00:00Z',
    '2028-01-15T00:00:00Z',
    '2028-02-15T00:00:00Z',
    '2028-03-15T00:00:00Z',
  ];
  for (const project of [short, long, all]) await fixture.insert(project, ...TIMES);
  fixture.retentionDays = { ten_a: 17, ten_b: 77 };
  await fixture.sweepTwice();
  expect(await fixture.daysLeft(short)).toEqual(['2028-03-15']);
  expect(await fixture.daysLeft(long)).toEqual(['2028-01-15', '2028-02-15', '2028-03-15']);
  expect(await fixture.daysLeft(all)).toHaveLength(4);
  // A month in which no project has rows any more is gone with its parts.
  fixture.retentionDays = { ten_a: 17, ten_b: 17, ten_c: 17 };
  await fixture.sweepTwice();
  for (const project of [short, long, all]) expect(await fixture.daysLeft(project)).toEqual(['2028-03-15']);
});

describe('sweeps', () => {
  it('wait for no deletion to be done', async () => {
    const project = await fixture.newProject('ten_a');
    await fixture.insert(project, '2028-02-15T00:00:00Z', '2028-03-15T00:00:00Z');
    fixture.retentionDays = { ten_a: 17 };
    const { events } = storageTables(project);
    await fixture.house.clickhouse.command(`SYSTEM STOP MERGES ${events}`);
    await fixture.sweepTwice();
    expect(await fixture.house.clickhouse.query(IN_DELETION)).toContainEqual({ table: events });
    await fixture.house.clickhouse.command(`SYSTEM START MERGES ${events}`);
    expect(await fixture.daysLeft(project)).toEqual(['2028-03-15']);
  });

  it('are done by one of many, once in an interval', async () => {
    const swept = await Promise.all(Array.from({ length: 5 }, () => fixture.job().sweep()));
    expect(swept.filter(Boolean)).toHaveLength(1);
    fixture.clock.advanceMs(SWEEP_INTERVAL_MS - 1);
    expect(await fixture.job().sweep()).toBe(false);
    fixture.clock.advanceMs(1);
    expect(await fixture.job().sweep()).toBe(true);
  });

  it('delete failed events by the day, also during reprocessing', async () => {
    const project = await fixture.newProject('ten_a');
    const keep = async (second: number) =>
      fixture.store.postgres.pool.query(
        `insert into failed_events values ($1, $2, gen_random_uuid(), $3, 0, 'ers_1', 'dimension_missing', 0, '{}')`,
        [project.tenantId, project.projectId, second],
      );
    const first = at('2028-03-22T00:00:00Z');
    for (const second of [first - 2, first - 1, first]) await keep(second);
    fixture.retentionDays = { ten_a: 10 };
    const client = await fixture.store.postgres.pool.connect();
    await client.query('begin');
    await client.query('select from failed_events where occurred_at = $1 for update', [first - 2]);
    await fixture.job().sweep();
    await client.query('rollback');
    client.release();
    const left = async () =>
      (await fixture.store.postgres.pool.query('select occurred_at from failed_events order by 1')).rows.map(
        ({ occurred_at }) => occurred_at,
      );
    expect(await left()).toEqual([first - 2, first]);
    fixture.clock.advanceMs(SWEEP_INTERVAL_MS);
    await fixture.job().sweep();
    expect(await left()).toEqual([first]);
  });

  it('that are broken off are done again', async () => {
    const project = await fixture.newProject('ten_a', 'dedicated');
    await fixture.insert(project, '2028-01-15T00:00:00Z');
    fixture.retentionDays = { ten_a: 10 };
    await fixture.job().sweep();
    fixture.clock.advanceMs(SWEEP_INTERVAL_MS);
    // Whether a query is aborted before its result arrives depends on timing.
    await fixture
      .job()
      .sweep(AbortSignal.abort())
      .catch(() => undefined);
    expect(await fixture.daysLeft(project)).toHaveLength(1);
    fixture.clock.advanceMs(SWEEP_RETRY_MS);
    expect(await fixture.job().sweep()).toBe(true);
    expect(await fixture.daysLeft(project)).toEqual([]);
  });

  it('delete each revision and reversal row of a corrected event', async () => {
    const projects = [await fixture.newProject('ten_a'), await fixture.newProject('ten_a', 'dedicated')];
    const { clickhouse } = fixture.house;
    for (const project of projects) {
      const { tenantId, projectId } = project;
      const rows = ['2028-01-15T00:00:00Z', '2028-03-31T00:00:00Z'].map((time) =>
        usageRow({ tenantId, projectId, occurredAt: at(time) }),
      );
      const { events } = storageTables(project);
      await insertUsageRows(clickhouse, rows, events);
      const corrections = rows.map((row) => correctedRows(row));
      await insertCorrections(clickhouse, corrections, events);
    }
    fixture.retentionDays = { ten_a: 10 };
    await fixture.sweepTwice();
    for (const project of projects) {
      expect(await fixture.daysLeft(project)).toEqual(['2028-03-31']);
      const { events } = storageTables(project);
      expect(await clickhouse.query(`SELECT corrections, is_counter FROM ${events} ORDER BY ALL`)).toEqual([
        { corrections: 0, is_counter: false },
        { corrections: 0, is_counter: true },
        { corrections: 1, is_counter: false },
      ]);
    }
  });

  it('continue after a failure, and report what they do', async () => {
    const project = await fixture.newProject('ten_a', 'dedicated');
    await fixture.insert(project, '2028-01-15T00:00:00Z', '2028-02-15T00:00:00Z');
    fixture.retentionDays = { ten_a: 10 };
    await fixture.job().sweep();
    fixture.clock.advanceMs(SWEEP_INTERVAL_MS);
    const metrics = createMetrics();
    await fixture.store.postgres.pool.query('alter table retention_sweep rename to mislaid');
    const stop = new AbortController();
    const failing = fixture.job({ metrics });
    const running = failing.run(stop.signal);
    await waitFor(() => fixture.warnings.length > 0);
    stop.abort();
    await running;
    await fixture.store.postgres.pool.query('alter table mislaid rename to retention_sweep');
    await failing.sweep();
    fixture.clock.advanceMs(7_000);
    const text = await metrics.metrics();
    expect(text).toMatch(/^tollgate_retention_failures_total [1-9]/m);
    expect(text).toContain('tollgate_retention_partitions_total 4');
    expect(text).toContain('tollgate_retention_age_seconds 7');
  });
});
