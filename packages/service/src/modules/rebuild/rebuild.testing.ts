import type { VerifyReport } from '@tollgate/contract';
import { ManualClock } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { createLog } from '../../platform/log/index.js';
import { createMetrics } from '../../platform/metrics/index.js';
import {
  batchRecord,
  createProject,
  createTestClickHouse,
  createTestPostgres,
  PipelineFixture,
  TestArchive,
  type TestClickHouse,
  type TestProject,
  testEvent,
} from '../../testing/index.js';
import { createArchiveJob } from '../archive/index.js';
import { createProjector, type ProjectorDeps } from '../pipeline/index.js';
import { verifyUsage } from '../verify/index.js';
import type { RebuildDeps } from './rebuild.js';

const log = createLog({ level: 'silent' });
const DAY_S = 86_400;
/** 15 June 2025, noon. */
const NOW_MS = Date.parse('2025-06-15T12:00:00Z');

/** Both stores with an archive; a project in the shared tables, and one with tables of its own. */
export class HistoryFixture {
  readonly clock = new ManualClock(NOW_MS);
  readonly failures: unknown[] = [];
  /** The stage after which a projector dies. */
  killAfter: string | undefined;
  #keys = 0;

  private constructor(
    readonly pipeline: PipelineFixture,
    readonly house: TestClickHouse,
    readonly archived: TestArchive,
    readonly own: TestProject,
  ) {}

  static async create(): Promise<HistoryFixture> {
    const test = await createTestPostgres();
    const [pipeline, house, archived] = await Promise.all([
      PipelineFixture.create({ test }),
      createTestClickHouse(),
      TestArchive.create(),
    ]);
    const own = await createProject(test.postgres, 'ten_a', 'prj_own', 'dedicated');
    await house.provision(own.projectNo);
    return new HistoryFixture(pipeline, house, archived, own);
  }

  async drop(): Promise<void> {
    await Promise.all([this.pipeline.drop(), this.house.drop(), this.archived.drop()]);
  }

  deps(clickhouse: ClickHouse = this.house.clickhouse): RebuildDeps {
    const { postgres } = this.pipeline;
    return { postgres, clickhouse, archive: this.archived.archive, clock: this.clock, log };
  }

  /** Returns Unix seconds. */
  timeOf(daysAgo: number): number {
    return NOW_MS / 1_000 - daysAgo * DAY_S;
  }

  /** Accepts and rates events of both projects that occurred so many days ago; the last of each project fails. */
  async rate(count: number, daysAgo = 0, projects = [this.pipeline.project, this.own]): Promise<void> {
    const occurred_at = this.timeOf(daysAgo);
    for (const project of projects) {
      const events = Array.from({ length: count }, (_, index) =>
        testEvent(`k${this.#keys++}`, { occurred_at, ...(index === count - 1 && { raw_json: {} }) }),
      );
      await this.pipeline.accept(batchRecord(project, events));
    }
    await this.pipeline.worker({}, NOW_MS).drain();
  }

  /** Inserts everything that waits, and returns the number of events. */
  project(
    isArchived = true,
    clickhouse: ProjectorDeps['clickhouse'] = this.house.clickhouse,
  ): Promise<number> {
    const { postgres, spool } = this.pipeline;
    return createProjector({
      ...{ postgres, spool, clickhouse, clock: this.clock },
      archive: isArchived ? this.archived.archive : undefined,
      observer: {
        stage: (stage) => {
          if (stage === this.killAfter) throw new Error(`killed after ${stage}`);
        },
        group: () => {},
        groupFailed: (error) => this.failures.push(error),
        spoolCorrupt: () => {},
      },
    }).drain();
  }

  upkeep(): Promise<number> {
    const { postgres } = this.pipeline;
    const deps = { postgres, clickhouse: this.house.clickhouse, archive: this.archived.archive };
    return createArchiveJob({ ...deps, clock: this.clock, log, metrics: createMetrics() }).sweep();
  }

  blocks(): Promise<unknown[]> {
    return this.pipeline.rows('select * from archived_blocks order by id');
  }

  /** Returns the rows of all tables, and the sums of all rollups. */
  async contents(): Promise<unknown> {
    const { clickhouse } = this.house;
    const rows = (table: string) =>
      clickhouse.query(
        `SELECT * FROM ${table} FINAL ORDER BY tenant_id, project_id, occurred_at, raw_event_id, corrections, is_counter`,
      );
    const sums = (table: string) =>
      clickhouse.query(
        `SELECT project_id, resolution, metric, bucket, unit, currency, sum(item_count), sum(quantity), sum(amount),
           sum(cost), sum(cost_count)
         FROM ${table} GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`,
      );
    const { projectNo } = this.own;
    return Promise.all([
      rows('usage_events'),
      rows(`usage_events_${projectNo}`),
      sums('usage_rollup'),
      sums(`usage_rollup_${projectNo}`),
    ]);
  }

  async verifyStatus(): Promise<string> {
    return (await this.verify()).status;
  }

  verify(): Promise<VerifyReport> {
    return verifyUsage({ ...this.deps(), log, projectionMsMax: 100 });
  }
}
