import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VerifyReport } from '@tollgate/contract';
import type { ManualClock } from '../../kernel/clock.js';
import { createLog } from '../../platform/log/index.js';
import { createMetrics } from '../../platform/metrics/index.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue } from '../../platform/queue/index.js';
import { everythingAdmitted } from '../../testing/admission.js';
import { createTestApi, type TestApi, type TestParts } from '../../testing/api.js';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { everyEventAdmitted } from '../../testing/ingest-api.js';
import { registerAnalysisRoutes } from '../analysis/index.js';
import { registerCounterRoutes } from '../counters/index.js';
import { IngestService, registerIngestRoutes } from '../ingest/index.js';
import { createCreditExpiryJob, createLedger, registerLedgerRoutes } from '../ledger/index.js';
import {
  createLimitManagement,
  createWorkerCatalog,
  registerLimitManagementRoutes,
} from '../limits/index.js';
import {
  createFileSpool,
  createPipelineWorker,
  createProjector,
  createRollupDimensions,
  type PipelineWorker,
  type PipelineWorkerOptions,
  type Projector,
} from '../pipeline/index.js';
import { EventQuotas } from '../quotas/index.js';
import { createRuleSets, createRuleVersions, explainedRule, registerRuleSetRoutes } from '../rules/index.js';
import { createUsageHistory, type UsageHistory } from '../storage/index.js';
import { BacktestJobs, Backtests, createBacktestRating, registerBacktestRoutes } from '../trial/index.js';
import { registerExportRoutes, registerUsageRoutes, UsageBlock } from '../usage/index.js';
import { verifyUsage } from '../verify/index.js';
import { type Death, dyingPostgres, KilledError } from './death.testing.js';
import {
  type AdvanceDeps,
  advanceCorrections,
  Corrections,
  createCorrectionJob,
  readAuthors,
  registerCorrectionRoutes,
} from './index.js';

export type Storage = 'shared' | 'dedicated';

/** More than the time until a step that failed, or whose process died, is repeated. */
const PAUSE_MS = 61_000;
const ROUNDS_MAX = 20;

/** All modules from ingest to corrections over both stores, in one process with a clock that stands still. */
export class CorrectionsFixture {
  readonly defects: unknown[] = [];
  /** Logged errors of steps. */
  readonly warnings: unknown[] = [];
  partEvents = 3;
  partsPerStep = 2;
  eventsMax: number | undefined;
  readonly #engine: Omit<AdvanceDeps, 'postgres' | 'block' | 'partEvents' | 'partsPerStep' | 'eventsMax'>;
  readonly #workerDeps: Omit<Parameters<typeof createPipelineWorker>[0], 'postgres'>;
  readonly #worker: PipelineWorker;
  readonly #projector: Projector;

  private constructor(
    readonly api: TestApi,
    readonly house: TestClickHouse,
    readonly history: UsageHistory,
    readonly folder: string,
    spool: Awaited<ReturnType<typeof createFileSpool>>,
  ) {
    const { postgres, clock } = api;
    const { clickhouse } = house;
    const log = { warn: (...logged: unknown[]) => void this.warnings.push(logged) };
    const onDefect = (error: unknown) => void this.defects.push(error);
    const published = createRuleVersions(postgres);
    const base = { spool, clock, limits: createWorkerCatalog(), onCommitted: () => {} };
    const rules = { published, ruleSets: createRuleSets({ postgres, clock }), onDefect };
    this.#engine = { ...base, ...rules, clickhouse, history, log, rollup: createRollupDimensions(postgres) };
    const observer = {
      stage: () => {},
      batch: () => {},
      batchFailed: onDefect,
      defect: onDefect,
      group: () => {},
      groupFailed: onDefect,
      spoolCorrupt: onDefect,
    };
    const queue = new PostgresSegmentQueue(postgres);
    this.#workerDeps = { ...base, queue, rules: published, observer };
    this.#worker = this.createWorker(postgres);
    this.#projector = createProjector({ postgres, clickhouse, spool, clock, observer });
  }

  static async open(storage: Storage = 'shared'): Promise<CorrectionsFixture> {
    const house = await createTestClickHouse();
    let history: UsageHistory | undefined;
    const admission = { ...everythingAdmitted, admitProject: async () => storage };
    const api = await createTestApi(
      (app, parts) => {
        // Nothing is cached for longer than the clock stands still.
        history = createUsageHistory({ postgres: parts.postgres, monotonicMs: () => parts.clock.nowMs() });
        registerAll(app, parts, house, history);
      },
      () => admission,
    );
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-corrections-'));
    if (history === undefined) throw new Error('the routes were not registered');
    const fixture = new CorrectionsFixture(api, house, history, folder, await createFileSpool(folder));
    if (storage === 'dedicated') await fixture.provision(api.projectId);
    return fixture;
  }

  async close(): Promise<void> {
    await this.api.close();
    await Promise.all([this.house.drop(), rm(this.folder, { recursive: true })]);
  }

  get clock(): ManualClock {
    return this.api.clock;
  }

  get nowS(): number {
    return Math.floor(this.clock.nowMs() / 1_000);
  }

  async rows<Row = Record<string, unknown>>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.api.postgres.pool.query(sql, [...values])).rows as Row[];
  }

  /** Creates a worker that rates events as another process does. */
  createWorker(postgres: Postgres, options: PipelineWorkerOptions = {}): PipelineWorker {
    return createPipelineWorker({ ...this.#workerDeps, postgres }, { loops: 1, ...options });
  }

  /** Rates all accepted events. */
  rate(): Promise<void> {
    return this.#worker.drain();
  }

  /** Copies all rows into ClickHouse. */
  project(): Promise<number> {
    return this.#projector.drain();
  }

  /** Does the steps that are due, or some of them, as one process. */
  advance(
    postgres: Postgres = this.api.postgres,
    stepsMax: number = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    const { partEvents, partsPerStep, eventsMax } = this;
    const bound = eventsMax === undefined ? {} : { eventsMax };
    let stepsLeft = stepsMax;
    return advanceCorrections(
      { ...this.#engine, ...bound, postgres, partEvents, partsPerStep, block: new UsageBlock() },
      () => stepsLeft-- <= 0,
    );
  }

  /** Does steps until the process dies; returns whether it has. */
  async advanceUntil(death: Death): Promise<boolean> {
    const dying = dyingPostgres(this.api.postgres, death);
    await this.advance(dying.postgres).catch((error: unknown) => {
      if (!(error instanceof KilledError)) throw error;
    });
    return dying.isDead();
  }

  /** Lets several processes do the steps of corrections until none is in progress; events are not rated. */
  async finish(processes = 1): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      await Promise.all(Array.from({ length: processes }, () => this.advance()));
      await this.project();
      const [row] = await this.rows(
        `select count(*)::int as open from usage_corrections where status in ('planning', 'applying', 'reverting')`,
      );
      if (row?.open === 0) return;
      this.clock.advanceMs(PAUSE_MS);
    }
    const errors = this.warnings.map((logged) => (logged as [{ err?: Error }])[0].err?.stack);
    throw new Error(`corrections are still in progress: ${errors.join('\n')}`);
  }

  /** Rates and projects everything, and ends all corrections. */
  async settle(): Promise<void> {
    await this.rate();
    await this.project();
    await this.finish();
  }

  /** Expires old plans, and does the steps that are due. */
  async sweep(): Promise<void> {
    const { postgres, clock } = this.api;
    const log = { warn: (...logged: unknown[]) => void this.warnings.push(logged) };
    await createCorrectionJob({
      postgres,
      clock,
      log,
      isAlone: false,
      advance: () => this.advance(),
    }).sweep();
  }

  /** Takes back what is left of expired credits. */
  async expireCredits(): Promise<void> {
    const { postgres, clock } = this.api;
    const log = { warn: (...logged: unknown[]) => void this.warnings.push(logged) };
    await createCreditExpiryJob({ postgres, clock, log, metrics: createMetrics() }).sweep();
  }

  verify(): Promise<VerifyReport> {
    const { clickhouse } = this.house;
    return verifyUsage({ postgres: this.api.postgres, clickhouse, log: createLog({ level: 'silent' }) });
  }

  /** Creates the tables of a project with dedicated storage. */
  async provision(projectId: string): Promise<void> {
    const [row] = await this.rows<{ no: number; storage: Storage }>(
      'select no, storage from projects where id = $1',
      [projectId],
    );
    if (row?.storage === 'dedicated') await this.house.provision(row.no);
  }
}

/** Registers the routes that a tenant uses around corrections. */
function registerAll(
  app: Parameters<typeof registerUsageRoutes>[0],
  { postgres, clock }: TestParts,
  { clickhouse }: TestClickHouse,
  history: UsageHistory,
): void {
  const ruleSets = createRuleSets({ postgres, clock });
  const queue = new PostgresSegmentQueue(postgres);
  const quotas = new EventQuotas(postgres, queue);
  const ingest = new IngestService({
    queue,
    quotas,
    publications: ruleSets.publications,
    clock,
    admission: everyEventAdmitted,
    scheduler: { every: () => () => {} },
  });
  app.addHook('onClose', () => ingest.close());
  registerRuleSetRoutes(app, ruleSets);
  registerIngestRoutes(app, { service: ingest });
  registerLedgerRoutes(app, createLedger({ postgres, clock }));
  registerCounterRoutes(app, { postgres, clock, ruleSets });
  const limits = { postgres, clock, catalog: createWorkerCatalog(), admission: everythingAdmitted };
  registerLimitManagementRoutes(
    app,
    createLimitManagement({ ...limits, otherSubjectTypes: async () => undefined }),
  );
  registerUsageRoutes(app, {
    ...{ clickhouse, history, postgres, queue, clock },
    room: ingest,
    correctionAuthors: (owner, ids) => readAuthors(new ProjectDb(postgres.db, owner), ids),
    answerRules: async (_project, questions) => questions.map(explainedRule),
    findUnpriced: async () => [],
    extractorVersions: ruleSets.extractors,
    pricingVersions: ruleSets.pricings,
  });
  registerExportRoutes(app, { clickhouse, history, metrics: createMetrics() });
  registerAnalysisRoutes(app, {
    clickhouse,
    history,
    clock,
    names: { unknown: async () => ({ names: [], known: [] }) },
  });
  const log = createLog({ level: 'silent' });
  // Several pages, of few events.
  const bounds = { pageEventsMax: 3 };
  const backtestRating = createBacktestRating({ ruleSets, postgres, clickhouse, clock, bounds });
  const jobs = new BacktestJobs({ postgres, clock, log });
  const backtests = new Backtests({ jobs, clickhouse, history, clock, rating: backtestRating });
  app.addHook('onClose', () => jobs.close());
  registerBacktestRoutes(app, { backtests });
  const corrections = new Corrections({ postgres, clickhouse, history, ruleSets, clock });
  registerCorrectionRoutes(app, { corrections, clock });
}
