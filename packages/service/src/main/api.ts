import { fileURLToPath } from 'node:url';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import type { ProjectScope } from '../kernel/scope.js';
import { KnownNames, registerAnalysisRoutes, usedNames } from '../modules/analysis/index.js';
import { createBoards, registerBoardRoutes } from '../modules/boards/index.js';
import {
  createEntitlements,
  type Entitlements,
  registerCatalogRoutes,
  TenantAdmission,
} from '../modules/catalog/index.js';
import { registerCellRoutes } from '../modules/cells/index.js';
import { registerConsoleRoutes, Sessions } from '../modules/console/index.js';
import { Corrections, readAuthors, registerCorrectionRoutes } from '../modules/corrections/index.js';
import { registerCounterRoutes } from '../modules/counters/index.js';
import { IngestService, registerIngestRoutes } from '../modules/ingest/index.js';
import { createLedger, registerLedgerRoutes } from '../modules/ledger/index.js';
import {
  advanceRevision,
  countSubjectRoutes,
  countUsageControls,
  eventsOfRules,
} from '../modules/limits/index.js';
import { registerMoveRoutes } from '../modules/moves/index.js';
import { checkStoresMatch } from '../modules/pipeline/index.js';
import { registerQuotaRoutes } from '../modules/quotas/index.js';
import { registerRebuildRoutes } from '../modules/rebuild/index.js';
import type { RuleSets } from '../modules/rules/index.js';
import {
  createUsageHistory,
  ProjectHistory,
  provisionStorage,
  type UsageHistory,
} from '../modules/storage/index.js';
import { createTenancy, registerTenancyRoutes, type TenancyService } from '../modules/tenancy/index.js';
import { registerExportRoutes, registerUsageRoutes } from '../modules/usage/index.js';
import { registerVerifyRoutes } from '../modules/verify/index.js';
import { createWebhooks, registerWebhookRoutes } from '../modules/webhooks/index.js';
import { type App, createApp, limitKeyRates, type Readiness } from '../platform/http/index.js';
import type { Logger } from '../platform/log/index.js';
import type { Metrics } from '../platform/metrics/index.js';
import { checkObjectStore, probeObjectStore } from '../platform/object-store/index.js';
import { ProjectDb } from '../platform/postgres/index.js';
import { probeQueue, probeSegmentFolder } from '../platform/queue/index.js';
import type { Tracing } from '../platform/tracing/index.js';
import { VERSION } from '../platform/version.js';
import type { AcceptingProcesses } from './accepting-processes.js';
import { measureBacklog } from './backlog-metrics.js';
import { baselineOf } from './baseline.js';
import type { OpenCell } from './cell.js';
import { startCheckout, usableProvider } from './checkout.js';
import { registerLimitRoutes } from './limits.js';
import { measureProcess } from './process-metrics.js';
import { registerRules } from './rules.js';
import type { RulesThreads } from './rules-threads.js';
import { type OpenQueue, openQueue } from './segment-queue.js';
import type { Stores } from './stores.js';
import { startStreams } from './streams.js';
import { acceptingProcessesOf } from './workers.js';

/** The folder of the built console. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../../console/dist/web', import.meta.url));

/**
 * Queries that read no row, and fail if a table is missing or may not be read. A server can respond although its
 * database was emptied, or is another one.
 */
const POSTGRES_TABLES = 'select from tenants, projects, segments, usage_batches, ledger_entries where false';
const CLICKHOUSE_TABLES = 'SELECT 1 FROM usage_events WHERE 0 UNION ALL SELECT 1 FROM usage_rollup WHERE 0';

export interface ApiParts {
  readonly config: Config;
  readonly stores: Stores;
  readonly serviceKey: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly readiness: Readiness;
  readonly pipeline: { notify(): void };
  readonly cell: OpenCell;
  /** Undefined when this process accepts all events itself. */
  readonly accepting: AcceptingProcesses | undefined;
  /** Upper bound of the open HTTP connections. */
  readonly connectionsMax: number;
}

export interface Api {
  readonly app: App;
  /** Call it after the app has closed: accepted events become durable. */
  close(): Promise<void>;
}

/** Creates the HTTP application; it does not listen yet. Without the api role it serves only its health. */
export async function createApi(parts: ApiParts): Promise<Api> {
  const { config, stores, log, metrics, readiness, accepting } = parts;
  const { postgres, clickhouse, objects } = stores;
  measureProcess(metrics, config, postgres);
  const history = createUsageHistory({ postgres });
  const entitlements = createEntitlements({
    postgres,
    history,
    clock: systemClock,
    baseline: baselineOf(config),
  });
  const admission = new TenantAdmission(entitlements);
  const tenancy = createTenancy({
    postgres,
    clock: systemClock,
    serviceKey: parts.serviceKey,
    projectAdmission: admission,
    provisionStorage: (projectNo) => provisionStorage(clickhouse, projectNo),
    register: parts.cell.own,
  });
  readiness.add('postgres', async () => void (await postgres.pool.query(POSTGRES_TABLES)));
  // Events are accepted and rated without ClickHouse: a node must stay available when only the history is down.
  const askClickHouse = async (signal: AbortSignal) => {
    await clickhouse.query(CLICKHOUSE_TABLES, {}, { signal });
  };
  readiness.add('clickhouse', askClickHouse, { isNeeded: false });
  readiness.add('history', () => checkStoresMatch(stores), { isNeeded: false });
  if (objects !== undefined) {
    readiness.add('object_store', async () => {
      await checkObjectStore(objects, postgres);
      await probeObjectStore(objects);
    });
  }
  if (parts.cell.own !== undefined) readiness.add('directory', parts.cell.ping, { isNeeded: false });
  const { authenticator, projects } = tenancy;
  const sessions = new Sessions({ postgres, clock: systemClock, authenticator });
  const app = await createApp({
    authenticator,
    projects,
    sessions,
    log,
    metrics,
    tracing: parts.tracing,
    readiness,
    connectionsMax: parts.connectionsMax,
    version: VERSION,
    publicUrl: config.publicUrl,
    expressLane: config.expressLane,
    keyRates: limitKeyRates(config.keyRate),
    passOn: accepting && ((socket) => accepting.passOn(socket)),
    metricsText: accepting && (() => accepting.metricsText(metrics)),
    cells: parts.cell.own,
  });
  if (!config.roles.includes('api')) return { app, close: async () => {} };
  checkAccepting(readiness, stores);
  // Without them this process accepts events itself.
  if (accepting) readiness.add('accepting_processes', () => accepting.check(), { isNeeded: false });
  registerConsoleRoutes(app, { sessions, folder: CONSOLE_FOLDER });
  const { close: closeQueue, ...queues } = await openQueue(stores, config, {
    log,
    metrics,
    onAppended: () => parts.pipeline.notify(),
    writer: { number: 0, count: 1 + acceptingProcessesOf(config) },
  });
  const tenants = { tenancy: tenancy.service, entitlements, admission, history };
  const close = registerModules(app, parts, queues, tenants);
  return { app, close: () => close().finally(closeQueue) };
}

/** Events are written to the queue, and large segments of them to files, if there is a folder for those. */
function checkAccepting(readiness: Readiness, { postgres, folders }: Stores): void {
  readiness.add('queue', () => probeQueue(postgres));
  if (folders !== undefined) readiness.add('queue_files', () => probeSegmentFolder(folders.segments));
}

/** Services about tenants that other modules use. */
interface Tenants {
  readonly tenancy: TenancyService;
  readonly entitlements: Entitlements;
  readonly admission: TenantAdmission;
  readonly history: UsageHistory;
}

/** Registers every module's routes. Returns the functions to call after the app has closed. */
function registerModules(
  app: App,
  parts: ApiParts,
  { queue, quotas }: Pick<OpenQueue, 'queue' | 'quotas'>,
  tenants: Tenants,
): () => Promise<void> {
  const { tenancy, entitlements, admission, history } = tenants;
  const { config, stores, log, metrics } = parts;
  const { postgres, clickhouse } = stores;
  const clock = systemClock;
  const { ruleSets, threads, stop: stopRules } = registerRules(app, parts, history);
  const ingest = new IngestService({
    queue,
    quotas,
    publications: ruleSets.publications,
    clock,
    admission,
    backlogEventsMax: config.ingestBacklogEventsMax,
    moving: parts.cell.gate,
  });
  measureBacklog(metrics, ingest, config.ingestBacklogEventsMax);
  registerTenancyRoutes(app, { service: tenancy });
  const { directory } = parts.cell;
  if (directory !== undefined && config.cell !== undefined) {
    const { serviceKey } = parts;
    registerMoveRoutes(app, { ...stores, clock, directory, cellName: config.cell, serviceKey });
  }
  registerCellRoutes(app, { postgres, cellName: config.cell });
  registerLedgerRoutes(app, createLedger({ postgres, clock, beforeAccountChange: advanceRevision }));
  const names = knownNames(clickhouse, history);
  registerLimitRoutes(app, { postgres, log, metrics, admission, names });
  registerCatalogRoutes(app, {
    postgres,
    clock,
    entitlements,
    tenants: tenancy,
    countSubjectRoutes,
    countUsageControls,
    paymentProvider: usableProvider(config),
  });
  registerQuotaRoutes(app, { postgres });
  registerIngestRoutes(app, { service: ingest });
  registerUsageRoutes(app, {
    ...explainedBy(ruleSets, threads, postgres),
    ...stores,
    history,
    queue,
    room: ingest,
    clock,
  });
  registerExportRoutes(app, { clickhouse, history, metrics });
  registerAnalysisRoutes(app, { clickhouse, history, clock, names });
  const boards = createBoards({ postgres, clock, names });
  registerBoardRoutes(app, boards);
  const stopStreams = startStreams(app, stores, { ...parts, history, charts: boards.charts });
  registerWebhookRoutes(
    app,
    createWebhooks({
      postgres,
      clock,
      allowPrivate: config.webhookAllowPrivate,
      eventsOfRules: (owner, names) => eventsOfRules(new ProjectDb(postgres.db, owner), names),
    }),
  );
  registerStoreRoutes(app, parts, { ruleSets, history });
  const stopCheckout = startCheckout(app, { config, postgres, log, metrics, entitlements, tenancy });
  return async () => {
    await Promise.all([ingest.close(), stopRules(), stopCheckout(), stopStreams()]);
  };
}

/** Registers corrections, counters, the comparison of both stores, and the repair of the history. */
function registerStoreRoutes(
  app: App,
  { stores, log }: ApiParts,
  deps: { readonly ruleSets: RuleSets; readonly history: UsageHistory },
): void {
  const clock = systemClock;
  registerCorrectionRoutes(app, { corrections: new Corrections({ ...stores, ...deps, clock }), clock });
  registerCounterRoutes(app, { ...stores, ...deps, clock });
  registerVerifyRoutes(app, { ...stores, log });
  registerRebuildRoutes(app, { ...stores, clock, log });
}

/** Returns the parts that explain an event by its rules, for the usage module. */
function explainedBy(
  ruleSets: RuleSets,
  { answerRules, findUnpriced }: RulesThreads,
  { db }: Stores['postgres'],
) {
  return {
    correctionAuthors: (owner: ProjectScope, ids: readonly string[]) =>
      readAuthors(new ProjectDb(db, owner), ids),
    answerRules,
    findUnpriced,
    extractorVersions: ruleSets.extractors,
    pricingVersions: ruleSets.pricings,
  };
}

function knownNames(clickhouse: Stores['clickhouse'], history: UsageHistory): KnownNames {
  return new KnownNames({
    read: async (project) => usedNames(new ProjectHistory(clickhouse, await history.scopeOf(project))),
  });
}
