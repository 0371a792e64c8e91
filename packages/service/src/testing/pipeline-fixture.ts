import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../kernel/clock.js';
import { createWorkerCatalog } from '../modules/limits/index.js';
import {
  type BatchStage,
  createFileSpool,
  createPipelineWorker,
  type PipelineWorker,
  type PipelineWorkerOptions,
  type Spool,
} from '../modules/pipeline/index.js';
import { EventQuotas } from '../modules/quotas/index.js';
import type { Postgres } from '../platform/postgres/index.js';
import { PostgresSegmentQueue, type SegmentRecord } from '../platform/queue/index.js';
import type { EndedWork } from '../platform/tracing/index.js';
import { batchRecord, createProject, type TestEvent, type TestProject } from './accepted.js';
import { memoryGroups } from './memory-groups.js';
import { createTestPostgres, type TestPostgres } from './postgres.js';
import { testRules } from './test-rules.js';
import { waitFor } from './wait-for.js';

/** The default number of shards, so that most tests run with several. */
const SHARDS = 8;

export interface PipelineFixtureOptions {
  /** The number of shards of each append. */
  readonly shards?: () => number;
  /** The number of projects; their numbers are consecutive. */
  readonly projects?: number;
  /** A migrated database, which `drop` of the fixture drops; by default a new one. */
  readonly test?: TestPostgres;
}

/**
 * A database with one or several projects, a spool folder, and workers that rate by `testRules` and stop at the stage
 * that a test sets.
 */
export class PipelineFixture {
  readonly #test: TestPostgres;
  readonly #workers: PipelineWorker[] = [];
  static readonly nowMs = 1_750_000_100_000;

  /** Whether the rules were corrected: then nothing fails. */
  isMended = false;
  killAfter: BatchStage | undefined;
  /** How often that stage completes before a process dies. */
  killsAfterPasses = 0;
  /** The `raw_json.name` of the events that were rated, in order, including those of failed batches. */
  readonly ratedNames: string[] = [];
  /** The time of the rating thread: an event takes `raw_json.cost_ms`. */
  threadMs = 0;
  /** The part of it in which the system has let other threads run: `raw_json.waited_ms` of an event. */
  waitedMs = 0;
  /** For projectors whose rows go nowhere. */
  readonly recordedGroups = memoryGroups();
  readonly defects: unknown[] = [];
  readonly failures: unknown[] = [];
  readonly postgres: Postgres;
  /** The first project. */
  readonly project: TestProject;
  readonly queue: PostgresSegmentQueue;
  readonly quotas: EventQuotas;
  /** The stages that have ended, of all batches. */
  readonly stages: BatchStage[] = [];
  /** The batches that were committed or have failed. */
  readonly ended: EndedWork[] = [];

  private constructor(
    test: TestPostgres,
    readonly projects: readonly TestProject[],
    shards: () => number,
    /** The folder of the spool. */
    readonly folder: string,
    readonly spool: Spool,
  ) {
    this.#test = test;
    this.postgres = test.postgres;
    const [project] = projects;
    if (project === undefined) throw new RangeError('a pipeline needs a project');
    this.project = project;
    this.queue = new PostgresSegmentQueue(test.postgres, undefined, { shards });
    this.quotas = new EventQuotas(test.postgres, this.queue);
  }

  static async create({
    shards = () => SHARDS,
    projects: count = 1,
    test: given,
  }: PipelineFixtureOptions = {}): Promise<PipelineFixture> {
    const test = given ?? (await createTestPostgres());
    const projects: TestProject[] = [];
    for (const letter of 'abcdefgh'.slice(0, count)) {
      projects.push(await createProject(test.postgres, 'ten_a', `prj_${letter}`));
    }
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-spool-'));
    return new PipelineFixture(test, projects, shards, folder, await createFileSpool(folder));
  }

  async drop(): Promise<void> {
    await this.#test.drop();
    await rm(this.folder, { recursive: true });
  }

  worker(options: PipelineWorkerOptions = {}, nowMs = PipelineFixture.nowMs): PipelineWorker {
    const { postgres, queue, spool } = this;
    const observer = {
      stage: (stage: BatchStage) => {
        this.stages.push(stage);
        if (stage === this.killAfter && this.killsAfterPasses-- <= 0)
          throw Object.assign(new Error(`killed after ${stage}`), { code: 'ECONNRESET' });
      },
      batch: () => {},
      ended: (work: EndedWork) => this.ended.push(work),
      batchFailed: (error: unknown) => this.failures.push(error),
      defect: (error: unknown) => this.defects.push(error),
    };
    const rules = testRules(
      () => this.isMended,
      (rawJson) => {
        const {
          name,
          cost_ms = 0,
          waited_ms = 0,
        } = rawJson as {
          name?: string;
          cost_ms?: number;
          waited_ms?: number;
        };
        if (name !== undefined) this.ratedNames.push(name);
        this.threadMs += cost_ms;
        this.waitedMs += waited_ms;
      },
    );
    const clock = new ManualClock(nowMs);
    const worker = createPipelineWorker(
      {
        postgres,
        queue,
        spool,
        rules,
        limits: createWorkerCatalog(),
        clock,
        observer,
        onCommitted: () => {},
      },
      { thread: { nowMs: () => this.threadMs, waitedMs: () => this.waitedMs }, ...options },
    );
    this.#workers.push(worker);
    return worker;
  }

  /** Queues each record as a segment of its own. */
  async accept(...records: SegmentRecord[]): Promise<void> {
    for (const record of records) {
      if (record.scope.kind === 'reprocess') await this.queue.append([record]);
      else await this.quotas.appendWithinQuota([{ record, monthlyEventLimit: -1 }]);
    }
  }

  /** Queues the same events of every project with one append. */
  async acceptForAll(events: readonly TestEvent[]): Promise<void> {
    const records = this.projects.map((project) => batchRecord(project, events));
    await this.quotas.appendWithinQuota(records.map((record) => ({ record, monthlyEventLimit: -1 })));
  }

  async rows(sql: string): Promise<unknown[]> {
    return (await this.postgres.pool.query(sql)).rows;
  }

  /**
   * Lets three concurrent workers rate events of all projects. The events arrive a few at a time, and each arrives
   * twice.
   */
  async rateCompeting(events: readonly TestEvent[], atOnce: number): Promise<void> {
    const workers = [1, 2, 3].map(() => this.worker({ batchEventsMax: 40, lingerMs: 1 }));
    const stop = new AbortController();
    const running = workers.map((worker) => worker.run(stop.signal));
    for (let start = 0; start < events.length; start += atOnce) {
      const some = events.slice(start, start + atOnce);
      await this.acceptForAll(some);
      await this.acceptForAll(some.toReversed());
      for (const worker of workers) worker.notify('appended');
    }
    await waitFor(async () => {
      this.#notifyWorkers();
      return (await this.queue.backlog()).segments === 0;
    });
    stop.abort();
    await Promise.all(running);
  }

  /** Kills busy connections, again and again, until `count` batches have failed; then waits for the rest. */
  async cutWhileRunning(count: number): Promise<void> {
    const atWork = "datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'";
    await waitFor(async () => {
      this.#notifyWorkers();
      await this.#test.beside(`select pg_terminate_backend(pid) from pg_stat_activity where ${atWork}`);
      return this.failures.length >= count;
    });
    await waitFor(async () => {
      this.#notifyWorkers();
      return (await this.#test.beside('select 1 from segments limit 1')).length === 0;
    });
  }

  /** Notifies again and again while segments wait, as the watch of a service does. */
  #notifyWorkers(): void {
    for (const worker of this.#workers) {
      worker.notify('waiting');
      worker.notify('deferred');
    }
  }

  usageTotals(): Promise<unknown[]> {
    return this.rows(
      'select project_id, day, metric, unit, currency, item_count, quantity, amount from usage_totals order by 1, 2, 3',
    );
  }

  ingestTotals(): Promise<unknown[]> {
    return this.rows(
      'select project_id, processed_count, failed_count, duplicate_count from ingest_totals order by 1',
    );
  }

  eventTotals(): Promise<unknown[]> {
    return this.rows(
      'select project_id, day, processed_count, failed_count from usage_event_totals order by 1, 2',
    );
  }
}
