import { expect } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { createMetrics, type Metrics } from '../../platform/metrics/index.js';
import type { SweepJob } from '../../platform/sweep-job.js';
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
import type { RetentionPolicy } from './record-retention.js';
import {
  createRetentionJob,
  GAP_WAIT_MS,
  type RetentionJobDeps,
  SWEEP_INTERVAL_MS,
} from './retention-job.js';
import { storageTables } from './tables.js';

export const IN_DELETION =
  'SELECT DISTINCT table FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';

/** Both stores and the job that deletes history, at noon (UTC) of 1 April 2028. */
export class RetentionFixture {
  readonly clock = new ManualClock(Date.parse('2028-04-01T12:00:00Z'));
  /** By tenant; a tenant without an entry keeps everything. */
  retentionDays: Record<string, number> = {};
  /** Tenants for which more is kept than shown. */
  keptDays: Record<string, number> = {};
  readonly warnings: unknown[] = [];
  /** The monotonic clock of the jobs: by default so fast that no job waits because of a jump of `clock`. */
  monotonicMs = () => {
    this.#monotonicMs += GAP_WAIT_MS;
    return this.#monotonicMs;
  };
  #monotonicMs = 0;

  constructor(
    readonly store: TestPostgres,
    readonly house: TestClickHouse,
  ) {}

  async drop(): Promise<void> {
    await Promise.all([this.store.drop(), this.house.drop()]);
  }

  /** A policy with the days that the test sets. */
  readonly policy: RetentionPolicy = {
    retentionOf: async (_tx, tenantId) => {
      const shownDays = this.retentionDays[tenantId] ?? -1;
      return { shownDays, keptDays: this.keptDays[tenantId] ?? shownDays };
    },
  };

  job({
    clickhouse = this.house.clickhouse,
    metrics = createMetrics(),
    policy = this.policy,
  }: {
    clickhouse?: RetentionJobDeps['clickhouse'];
    metrics?: Metrics;
    policy?: RetentionPolicy;
  } = {}): SweepJob<boolean> {
    return createRetentionJob({
      ...{ postgres: this.store.postgres, clickhouse, clock: this.clock, metrics, policy },
      monotonicMs: () => this.monotonicMs(),
      log: { info: () => {}, warn: (...logged: unknown[]) => void this.warnings.push(logged) },
    });
  }

  async newProject(tenantId: string, storage: TestProject['storage'] = 'shared'): Promise<TestProject> {
    const id = `prj_${tenantId}_${storage}`;
    const project = await createProject(this.store.postgres, tenantId, id, storage);
    if (storage === 'dedicated') await this.house.provision(project.projectNo);
    return project;
  }

  /** Inserts an event at each of the times. */
  async insert(project: TestProject, ...times: string[]): Promise<void> {
    const { tenantId, projectId } = project;
    const rows = times.map((time) => usageRow({ tenantId, projectId, occurredAt: Date.parse(time) / 1_000 }));
    await insertUsageRows(this.house.clickhouse, rows, storageTables(project).events);
  }

  /** Waits for all deletions; returns the days of which rows are left, which events and rollup must agree on. */
  async daysLeft(project: TestProject): Promise<string[]> {
    const { clickhouse } = this.house;
    const { events, rollup } = storageTables(project);
    await waitFor(async () => (await clickhouse.query(IN_DELETION)).length === 0);
    const days = (table: string, time: string) =>
      clickhouse.query<{ day: string }>(
        `SELECT DISTINCT toString(toDate(${time})) AS day FROM ${table} WHERE project_id = {project:String} ORDER BY day`,
        { project: project.projectId },
      );
    const [ofEvents, ofRollup] = [await days(events, 'occurred_at'), await days(rollup, 'bucket')];
    expect(ofRollup).toEqual(ofEvents);
    return ofEvents.map(({ day }) => day);
  }

  /** Returns the first day that is kept; undefined when nothing is recorded. */
  readonly boundary = async (project: TestProject): Promise<string | undefined> => {
    const { rows } = await this.store.postgres.pool.query(
      'select retained_from_day * 86400 as s from usage_retention where project_id = $1',
      [project.projectId],
    );
    return rows[0] && new Date(rows[0].s * 1_000).toISOString().slice(0, 10);
  };

  /** Sweeps twice: the second sweep deletes what the first one records. */
  async sweepTwice(): Promise<void> {
    for (let sweep = 0; sweep < 2; sweep++) {
      expect(await this.job().sweep()).toBe(true);
      this.clock.advanceMs(SWEEP_INTERVAL_MS);
    }
  }
}

export async function createRetentionFixture(): Promise<RetentionFixture> {
  return new RetentionFixture(...(await Promise.all([createTestPostgres(), createTestClickHouse()])));
}
