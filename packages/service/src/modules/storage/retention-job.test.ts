import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { createMetrics } from '../../platform/metrics/index.js';
import {
  createProject,
  createTestClickHouse,
  createTestPostgres,
  insertUsageRows,
  type TestClickHouse,
  type TestPostgres,
  type TestProject,
  usageRow,
  waitFor,
} from '../../testing/index.js';
import { provisionStorage } from './project-store.js';
import {
  createRetentionJob,
  type RetentionJobDeps,
  SWEEP_INTERVAL_MS,
  SWEEP_RETRY_MS,
} from './retention-job.js';
import { storageTables } from './tables.js';

const HOUR_MS = 3_600_000;
const IN_DELETION =
  'SELECT DISTINCT table FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';
const at = (text: string) => Date.parse(text) / 1_000;

let store: TestPostgres;
let house: TestClickHouse;
let clock: ManualClock;
let retentionDays: Record<string, number>;
let warnings: unknown[];

beforeEach(async () => {
  [store, house] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
  clock = new ManualClock(Date.parse('2028-04-01T12:00:00Z'));
  [retentionDays, warnings] = [{}, []];
});

afterEach(async () => {
  await Promise.all([store.drop(), house.drop()]);
});

function job({
  clickhouse = house.clickhouse as RetentionJobDeps['clickhouse'],
  metrics = createMetrics(),
} = {}) {
  return createRetentionJob({
    ...{ postgres: store.postgres, clickhouse, clock, metrics },
    policy: { retentionDays: (tenantId) => retentionDays[tenantId] ?? -1 },
    log: { info: () => {}, warn: (...told: unknown[]) => void warnings.push(told) },
  });
}

async function newProject(
  tenantId: string,
  storage: TestProject['storage'] = 'shared',
): Promise<TestProject> {
  const project = await createProject(store.postgres, tenantId, `prj_${tenantId}_${storage}`, storage);
  if (storage === 'dedicated') await provisionStorage(house.clickhouse, project.projectNo);
  return project;
}

/** An event at each of the times. */
async function insert(project: TestProject, ...times: string[]): Promise<void> {
  const { tenantId, projectId } = project;
  const rows = times.map((time) => usageRow({ tenantId, projectId, occurredAt: at(time) }));
  await insertUsageRows(house.clickhouse, rows, storageTables(project).events);
}

/** The days of which rows are left, once all deletions are done; in the events and the rollup alike. */
async function daysLeft(project: TestProject): Promise<string[]> {
  const { events, rollup } = storageTables(project);
  await waitFor(async () => (await house.clickhouse.query(IN_DELETION)).length === 0);
  const days = (table: string, time: string) =>
    house.clickhouse.query<{ day: string }>(
      `SELECT DISTINCT toString(toDate(${time})) AS day FROM ${table} WHERE project_id = {project:String} ORDER BY day`,
      { project: project.projectId },
    );
  const [ofEvents, ofRollup] = [await days(events, 'occurred_at'), await days(rollup, 'bucket')];
  expect(ofRollup).toEqual(ofEvents);
  return ofEvents.map(({ day }) => day);
}

async function boundary(project: TestProject): Promise<string | undefined> {
  const { rows } = await store.postgres.pool.query(
    'select retained_from_day * 86400 as s from usage_retention where project_id = $1',
    [project.projectId],
  );
  return rows[0] && new Date(rows[0].s * 1_000).toISOString().slice(0, 10);
}

/** Sweeps twice: what the first records, the second deletes. */
async function sweepTwice(): Promise<void> {
  expect(await job().sweep()).toBe(true);
  clock.advanceMs(SWEEP_INTERVAL_MS);
  expect(await job().sweep()).toBe(true);
  clock.advanceMs(SWEEP_INTERVAL_MS);
}

describe('the boundary of what is kept', () => {
  it('lies so many whole days before today, in UTC, and moves at midnight', async () => {
    const project = await newProject('ten_a');
    retentionDays = { ten_a: 30 };
    clock.advanceMs(12 * HOUR_MS - 1);
    await job().sweep();
    expect(await boundary(project)).toBe('2028-03-02');
    clock.advanceMs(SWEEP_INTERVAL_MS);
    await job().sweep();
    expect(await boundary(project)).toBe('2028-03-03');
  });

  it('counts the leap day', async () => {
    const project = await newProject('ten_a');
    retentionDays = { ten_a: 32 };
    await job().sweep();
    expect(await boundary(project)).toBe('2028-02-29');
  });

  it('never moves back: what was not kept once is not kept again', async () => {
    const project = await newProject('ten_a');
    retentionDays = { ten_a: 30 };
    await job().sweep();
    for (const days of [90, -1]) {
      retentionDays = { ten_a: days };
      clock.advanceMs(SWEEP_INTERVAL_MS);
      await job().sweep();
      expect(await boundary(project)).toBe('2028-03-02');
    }
  });

  it('is that of each tenant, and none without a limit; 0 keeps today', async () => {
    const projects = [await newProject('ten_a'), await newProject('ten_b'), await newProject('ten_c')];
    retentionDays = { ten_a: 0, ten_b: 1 };
    await job().sweep();
    expect(await Promise.all(projects.map(boundary))).toEqual(['2028-04-01', '2028-03-31', undefined]);
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
    const project = await newProject('ten_a', storage);
    await insert(project, ...TIMES);
    // The last day of February is the first that is kept.
    retentionDays = { ten_a: 32 };
    await sweepTwice();
    expect(await daysLeft(project)).toEqual(['2028-02-01', '2028-02-29', '2028-03-01']);
    clock.advanceMs(12 * HOUR_MS);
    await sweepTwice();
    expect(await boundary(project)).toBe('2028-03-01');
    expect(await daysLeft(project)).toEqual(['2028-03-01']);
  });

  it('is not touched before its boundary is known to everybody, whoever dies in between', async () => {
    const project = await newProject('ten_a', storage);
    await insert(project, ...TIMES);
    retentionDays = { ten_a: 10 };
    expect(await job().sweep()).toBe(true);
    expect(await boundary(project)).toBe('2028-03-22');
    expect(await daysLeft(project)).toHaveLength(4);
    clock.advanceMs(SWEEP_INTERVAL_MS);
    const away = () => Promise.reject(new Error('away'));
    await expect(job({ clickhouse: { query: away, command: away } }).sweep()).rejects.toThrow('away');
    expect(await daysLeft(project)).toHaveLength(4);
    expect(await job().sweep()).toBe(false);
    clock.advanceMs(SWEEP_RETRY_MS);
    expect(await job().sweep()).toBe(true);
    expect(await daysLeft(project)).toEqual(['2028-03-01']);
  });

  it('that comes too late goes with the next sweep', async () => {
    const project = await newProject('ten_a', storage);
    retentionDays = { ten_a: 10 };
    await sweepTwice();
    await insert(project, ...TIMES);
    expect(await job().sweep()).toBe(true);
    expect(await daysLeft(project)).toEqual(['2028-03-01']);
  });
});

it('leaves alone what others keep of the same months', async () => {
  const [short, long, all] = [
    await newProject('ten_a'),
    await newProject('ten_b'),
    await newProject('ten_c'),
  ];
  const TIMES = [
    '2027-12-15T00:00:00Z',
    '2028-01-15T00:00:00Z',
    '2028-02-15T00:00:00Z',
    '2028-03-15T00:00:00Z',
  ];
  for (const project of [short, long, all]) await insert(project, ...TIMES);
  retentionDays = { ten_a: 17, ten_b: 77 };
  await sweepTwice();
  expect(await daysLeft(short)).toEqual(['2028-03-15']);
  expect(await daysLeft(long)).toEqual(['2028-01-15', '2028-02-15', '2028-03-15']);
  expect(await daysLeft(all)).toHaveLength(4);
  // A month that nobody has rows of any more is gone, parts and all.
  retentionDays = { ten_a: 17, ten_b: 17, ten_c: 17 };
  await sweepTwice();
  for (const project of [short, long, all]) expect(await daysLeft(project)).toEqual(['2028-03-15']);
});

describe('sweeps', () => {
  it('wait for no deletion to be done', async () => {
    const project = await newProject('ten_a');
    await insert(project, '2028-02-15T00:00:00Z', '2028-03-15T00:00:00Z');
    retentionDays = { ten_a: 17 };
    const { events } = storageTables(project);
    await house.clickhouse.command(`SYSTEM STOP MERGES ${events}`);
    await sweepTwice();
    expect(await house.clickhouse.query(IN_DELETION)).toContainEqual({ table: events });
    await house.clickhouse.command(`SYSTEM START MERGES ${events}`);
    expect(await daysLeft(project)).toEqual(['2028-03-15']);
  });

  it('are done by one of many, once in an interval', async () => {
    const swept = await Promise.all(Array.from({ length: 5 }, () => job().sweep()));
    expect(swept.filter(Boolean)).toHaveLength(1);
    clock.advanceMs(SWEEP_INTERVAL_MS - 1);
    expect(await job().sweep()).toBe(false);
    clock.advanceMs(1);
    expect(await job().sweep()).toBe(true);
  });

  it('delete failed events by the day, whoever reprocesses some', async () => {
    const project = await newProject('ten_a');
    const keep = async (second: number) =>
      store.postgres.pool.query(
        `insert into failed_events values ($1, $2, gen_random_uuid(), $3, 0, 'ers_1', 'dimension_missing', 0, '{}')`,
        [project.tenantId, project.projectId, second],
      );
    const first = at('2028-03-22T00:00:00Z');
    for (const second of [first - 2, first - 1, first]) await keep(second);
    retentionDays = { ten_a: 10 };
    const client = await store.postgres.pool.connect();
    await client.query('begin');
    await client.query('select from failed_events where occurred_at = $1 for update', [first - 2]);
    await job().sweep();
    await client.query('rollback');
    client.release();
    const left = async () =>
      (await store.postgres.pool.query('select occurred_at from failed_events order by 1')).rows.map(
        ({ occurred_at }) => occurred_at,
      );
    expect(await left()).toEqual([first - 2, first]);
    clock.advanceMs(SWEEP_INTERVAL_MS);
    await job().sweep();
    expect(await left()).toEqual([first]);
  });

  it('that are broken off are done again', async () => {
    const project = await newProject('ten_a', 'dedicated');
    await insert(project, '2028-01-15T00:00:00Z');
    retentionDays = { ten_a: 10 };
    await job().sweep();
    clock.advanceMs(SWEEP_INTERVAL_MS);
    // Whether a query notices before it is answered is up to chance.
    await job()
      .sweep(AbortSignal.abort())
      .catch(() => undefined);
    expect(await daysLeft(project)).toHaveLength(1);
    clock.advanceMs(SWEEP_RETRY_MS);
    expect(await job().sweep()).toBe(true);
    expect(await daysLeft(project)).toEqual([]);
  });

  it('go on after a failure, and tell what they do', async () => {
    const project = await newProject('ten_a', 'dedicated');
    await insert(project, '2028-01-15T00:00:00Z', '2028-02-15T00:00:00Z');
    retentionDays = { ten_a: 10 };
    await job().sweep();
    clock.advanceMs(SWEEP_INTERVAL_MS);
    const metrics = createMetrics();
    await store.postgres.pool.query('alter table retention_sweep rename to mislaid');
    const stop = new AbortController();
    const failing = job({ metrics });
    const running = failing.run(stop.signal);
    await waitFor(() => warnings.length > 0);
    stop.abort();
    await running;
    await store.postgres.pool.query('alter table mislaid rename to retention_sweep');
    await failing.sweep();
    clock.advanceMs(7_000);
    const text = await metrics.metrics();
    expect(text).toMatch(/^tollgate_retention_failures_total [1-9]/m);
    expect(text).toContain('tollgate_retention_partitions_total 4');
    expect(text).toContain('tollgate_retention_age_seconds 7');
  });
});
