import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { BlockArchive } from '../modules/archive/index.js';
import { createProjector, type Projector } from '../modules/pipeline/index.js';
import { loadServiceKey, type ServiceKey } from '../modules/tenancy/index.js';
import { CLOSE_DEADLINE_MS, closeGracefully, Readiness } from '../platform/http/index.js';
import type { Logger } from '../platform/log/index.js';
import { createMetrics, type Metrics } from '../platform/metrics/index.js';
import { endConnections, WorkWatch } from '../platform/postgres/index.js';
import { deferredSegment, newSegment } from '../platform/queue/index.js';
import type { Tracing } from '../platform/tracing/index.js';
import { AcceptingProcesses } from './accepting-processes.js';
import { type Api, createApi } from './api.js';
import { openCell } from './cell.js';
import { Closers } from './closers.js';
import { prepareDataDir } from './data-dir.js';
import { acceptingConnectionsMax, descriptorLimit, planDescriptors } from './descriptors.js';
import { letHeapsGrow } from './heap.js';
import { announceUrl, lockInstance, usesEmbeddedStore } from './instance.js';
import { startJobs } from './jobs.js';
import { checkPort, listen } from './listen.js';
import { measureObjectStore } from './object-store-metrics.js';
import { observeProjection, PipelineMetrics } from './pipeline-metrics.js';
import { RatingThreads } from './rating-threads.js';
import { ShardLeases, type ShardWork } from './shard-leases.js';
import { startShards } from './shards.js';
import { StartError } from './start-error.js';
import { openStores, type Stores } from './stores.js';
import { startTracing } from './tracing.js';
import { acceptingProcessesOf, ratingThreadsOf } from './workers.js';

/** A running service. */
export interface Service {
  /** The service's URL; without the api role it serves only health and metrics. */
  readonly url: string;
  readonly serviceKey: ServiceKey;
  readonly places: Stores['places'];
  /** Resolves with one sentence when an essential part of the service has ended by itself. */
  readonly failure: Promise<string>;
  /**
   * Call it some time before `stop`: `/readyz` returns 503 from now on, requests are served, and each connection ends
   * after its next response.
   */
  beginDrain(): void;
  /** Accepts no more requests, finishes requests in progress, closes the stores. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly log: Logger;
  readonly onProgress: (step: string) => void;
  /** Aborts the start with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Starts the roles of `config` in this process.
 *
 * @throws StartError with one sentence for the operator
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { log, onProgress, signal } = options;
  letHeapsGrow();
  checkRoles(config);
  checkServiceKey(config);
  const { connectionsMax, warning } = planDescriptors(config, descriptorLimit());
  if (warning !== undefined) log.warn(warning);
  await checkPort(config);
  prepareDataDir(config);
  const closers = new Closers();
  let fail: (reason: string) => void = () => {};
  const failure = new Promise<string>((resolve) => {
    fail = resolve;
  });
  try {
    const lock = await lockInstance(config);
    closers.add(() => lock.release());
    const metrics = createMetrics();
    const tracing = await startTracing(config, config.roles.join(','), log);
    closers.add(() => tracing?.close());
    const opened = await openStores(config, { log, onProgress, onUnexpectedExit: fail, signal });
    closers.add(() => opened.close());
    const objects = opened.objects && measureObjectStore(opened.objects, metrics);
    const stores = { ...opened, objects, archive: objects ? new BlockArchive(objects) : opened.archive };
    await startShards(config, stores.postgres, log);
    const serviceKey = await loadServiceKey(config.dataDir, config.serviceKey);
    const watch = new WorkWatch({ postgres: stores.postgres, clock: systemClock, log });
    const pipeline = await startPipeline(config, stores, { log, metrics, tracing, watch, fail });
    closers.add(() => pipeline.stop());
    const jobs = startJobs(config, stores, { log, metrics, watch, onCommitted: pipeline.notifyCommitted });
    closers.add(() => jobs.stop());
    const stopWatch = new AbortController();
    const watching = watch.run(stopWatch.signal);
    closers.add(() => {
      stopWatch.abort();
      return watching;
    });
    signal.throwIfAborted();
    onProgress(config.roles.includes('api') ? 'starting the API' : 'starting the health endpoints');
    const readiness = new Readiness({
      onFailure: (check, error) => log.warn({ check, err: error }, 'a check of /readyz fails'),
      onRecovery: (check) => log.warn({ check }, 'a check of /readyz passes again'),
    });
    const cell = await openCell(config, stores.postgres, log);
    closers.add(() => cell.close());
    const accepting = openAccepting(config, stores, serviceKey, { log, pipeline });
    const parts = {
      config,
      stores,
      serviceKey: serviceKey.text,
      log,
      metrics,
      tracing,
      readiness,
      pipeline,
      cell,
      accepting,
      connectionsMax,
    };
    const api = await createApi(parts);
    closers.add(() => closeApi(api, readiness, accepting));
    await accepting?.start((passed, socket) => api.app.takeConnection(passed, socket), signal);
    const url = await listen(api.app, config);
    if (usesEmbeddedStore(config)) closers.add(announceUrl(config.dataDir, url));
    const beginDrain = () => drainApi(readiness, accepting, log);
    return { url, serviceKey, places: stores.places, failure, beginDrain, stop: () => closers.closeAll() };
  } catch (error) {
    return closers.closeAfter(error);
  }
}

/** Roles in processes of their own need stores that more than one process can reach. */
function checkRoles(config: Config): void {
  const isWhole = config.roles.length === 3;
  if (isWhole || !usesEmbeddedStore(config)) return;
  throw new StartError(
    'Roles can be split only over stores that every process reaches: set TOLLGATE_DATABASE_URL and TOLLGATE_CLICKHOUSE_URL.',
  );
}

/** Over servers only, no data directory keeps a key, and each process would generate its own. */
function checkServiceKey(config: Config): void {
  if (config.serviceKey !== undefined || usesEmbeddedStore(config)) return;
  throw new StartError(
    'Set TOLLGATE_SERVICE_KEY or TOLLGATE_SERVICE_KEY_FILE: if both stores are servers of your own, all processes must have the same service key.',
  );
}

/** Returns the processes that accept events for this one, not started yet; undefined when it accepts them itself. */
function openAccepting(
  config: Config,
  { postgres, postgresConnection, folders, owner }: Stores,
  serviceKey: ServiceKey,
  { log, pipeline }: { log: Logger; pipeline: RunningPipeline },
): AcceptingProcesses | undefined {
  const processes = acceptingProcessesOf(config);
  if (processes === 0) return undefined;
  const connectionsMax = acceptingConnectionsMax(config, descriptorLimit());
  return new AcceptingProcesses({
    data: { config, postgresConnection, folders, serviceKey: serviceKey.text, processes, connectionsMax },
    log,
    owner,
    endConnections: (applicationName) => endConnections(postgres, applicationName),
    onAppended: () => pipeline.notify(),
  });
}

function drainApi(readiness: Readiness, accepting: AcceptingProcesses | undefined, log: Logger): void {
  log.info('draining: not ready any more, requests are still served');
  readiness.beginDrain();
  accepting?.drain();
}

/** Lower bound of the deadline of requests in progress, however long the accepting processes took for theirs. */
const CLOSE_DEADLINE_MS_MIN = 1_000;

async function closeApi(
  api: Api,
  readiness: Readiness,
  accepting: AcceptingProcesses | undefined,
): Promise<void> {
  readiness.beginShutdown();
  const startMs = performance.now();
  // Meanwhile this process listens, and refuses what is new.
  await accepting?.stop();
  // All processes together have one deadline, so that the stores have time to close before the service is ended.
  const leftMs = CLOSE_DEADLINE_MS - (performance.now() - startMs);
  await closeGracefully(api.app, Math.max(CLOSE_DEADLINE_MS_MIN, leftMs));
  await api.close();
}

/** The parts of the pipeline that this process runs. */
interface RunningPipeline {
  /** Call it after segments were appended. */
  notify(): void;
  /** Call it after a commit that left rows for ClickHouse. */
  notifyCommitted(): void;
  stop(): Promise<void>;
}

interface PipelineParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly watch: WorkWatch;
  readonly fail: (reason: string) => void;
}

/** Returns a function that tells the projector of rows that were committed. */
function committedNotice(projector: Projector | undefined, watch: WorkWatch): () => void {
  const onNotified = projector && watch.add(projector.awaited);
  return () => {
    projector?.notify();
    onNotified?.();
  };
}

async function startPipeline(
  config: Config,
  stores: Stores,
  { log, metrics, tracing, watch, fail }: PipelineParts,
): Promise<RunningPipeline> {
  const { folders, postgres, clickhouse } = stores;
  const abort = new AbortController();
  const threads = ratingThreadsOf(config);
  const kinds: ShardWork[] = threads === 0 ? [] : ['worker'];
  if (config.roles.includes('projector')) kinds.push('projector');
  const onChange = () => {
    worker?.setShards(leases.owned('worker').stored);
    projector?.notify();
  };
  const leases = await ShardLeases.open(stores, kinds, { log, metrics, onChange });
  const projector = !config.roles.includes('projector')
    ? undefined
    : createProjector({
        postgres,
        clickhouse,
        spool: stores.spool,
        archive: stores.archive,
        clock: systemClock,
        observer: observeProjection(metrics, log, tracing),
        shards: () => leases.owned('projector'),
      });
  const projecting = projector?.run(abort.signal);
  const notifyCommitted = committedNotice(projector, watch);
  const pipelineMetrics = new PipelineMetrics(metrics);
  const worker =
    threads === 0
      ? undefined
      : new RatingThreads(
          threads,
          {
            postgresConnection: stores.postgresConnection,
            connectionsMax: config.databaseConnectionsMax,
            folders,
            objectStore: config.objectStoreUrl,
            logLevel: config.logLevel,
            owner: stores.owner,
            isTraced: tracing !== undefined,
          },
          {
            onBatchCommitted: notifyCommitted,
            onBatchEnded: (work) => tracing?.record('rate batch', work),
            onStats: (thread, stats, stageSeconds) => pipelineMetrics.update(thread, stats, stageSeconds),
            onUnexpectedExit: fail,
          },
        );
  const onWorkerNotified = worker && watchSegments(worker, watch);
  const stopLeases = new AbortController();
  const leasing = leases.run(stopLeases.signal);
  return {
    notify() {
      worker?.notify();
      onWorkerNotified?.();
    },
    notifyCommitted,
    async stop() {
      await worker?.stop();
      abort.abort();
      await projecting;
      stopLeases.abort();
      await leasing;
    },
  };
}

/** Upper bounds of the time until segments of other processes are noticed. */
const NEW_LOOK_MS = 200;
const DEFERRED_LOOK_MS = 1_000;

/** Returns a function that postpones the next look for new segments; call it when the worker was notified. */
function watchSegments(worker: RatingThreads, watch: WorkWatch): () => void {
  watch.add({
    dueAtMs: deferredSegment,
    lookMs: DEFERRED_LOOK_MS,
    onDue: () => worker.notifyFound('deferred'),
  });
  return watch.add({ dueAtMs: newSegment, lookMs: NEW_LOOK_MS, onDue: () => worker.notifyFound('waiting') });
}
