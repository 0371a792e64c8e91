import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.js';
import { createWorkerCatalog } from '../modules/limits/index.js';
import { createPipelineWorker, type PipelineObserver } from '../modules/pipeline/index.js';
import { createRuleVersions } from '../modules/rules/index.js';
import { createLog, type Logger } from '../platform/log/index.js';
import { openObjectStore } from '../platform/object-store/index.js';
import { connectPostgres } from '../platform/postgres/index.js';
import { PostgresSegmentQueue } from '../platform/queue/index.js';
import { openSegmentStore, openSpool } from './passing-bytes.js';
import { yieldThisThread } from './priority.js';
import { createSegmentSweepJob, openShards } from './segment-queue.js';
import type { FromWorker, ToWorker, WorkerThreadData } from './worker-protocol.js';

/** Rating has its own threads, so that a full batch never delays a response. */

const STATS_INTERVAL_MS = 1_000;

const port = parentPort;
if (port === null) throw new Error('worker-thread.js must be started as a worker thread');
const data = workerData as WorkerThreadData;
const { folders } = data;
const log = createLog({ level: data.logLevel, role: 'worker' });
const postgres = connectPostgres({
  connection: data.postgresConnection,
  applicationName: `tollgate worker ${data.owner}`,
  poolMax: data.connectionsMax,
  log,
});
yieldThisThread(log);
const objects = data.objectStore && (await openObjectStore(data.objectStore));
const segmentStore = await openSegmentStore({ folders, objects });
const queue = new PostgresSegmentQueue(postgres, segmentStore, await openShards(postgres, log));
/** None until the process has leases. */
let shards: readonly number[] = [];
const stageSeconds: Record<string, number> = {};
let sentStats = '';
const worker = createPipelineWorker({
  postgres,
  queue,
  rules: createRuleVersions(postgres),
  limits: createWorkerCatalog(),
  spool: await openSpool({ folders, objects }),
  clock: systemClock,
  shards: () => shards,
  observer: observe(log, data.isTraced),
  onCommitted: () => send({ kind: 'batch-committed' }),
  onFullClaim: () => send({ kind: 'full-claim' }),
});

const stop = new AbortController();
port.on('message', (message: ToWorker) => {
  if (message.kind === 'stop') stop.abort();
  else if (message.kind === 'segments') worker.notify(message.news);
  else shards = message.shards;
});
const statsTimer = setInterval(sendStats, STATS_INTERVAL_MS);
// The process that appends to files also sweeps them.
const sweeping = objects && createSegmentSweepJob(queue, log).run(stop.signal);
await worker.run(stop.signal);
await sweeping;
clearInterval(statsTimer);
sendStats();
await postgres.close();
await objects?.close();
port.close();

function observe(logger: Logger, isTraced: boolean): PipelineObserver {
  return {
    stage(stage, durationMs) {
      stageSeconds[stage] = (stageSeconds[stage] ?? 0) + durationMs / 1_000;
    },
    batch: () => {},
    // The main thread has the SDK of the traces.
    ...(isTraced && { ended: (work) => send({ kind: 'batch-ended', work }) }),
    batchFailed: (error) => logger.warn({ err: error }, 'a batch failed and will be tried again'),
    defect: (error) => logger.error({ err: error }, 'an event met a defect; it is kept as failed'),
  };
}

/** Sends nothing if nothing was done, because each message wakes the main thread. */
function sendStats(): void {
  const stats = { ...worker.stats() };
  const text = JSON.stringify([stats, stageSeconds]);
  if (text === sentStats) return;
  sentStats = text;
  send({ kind: 'stats', stats, stageSeconds });
}

function send(message: FromWorker): void {
  port?.postMessage(message);
}
