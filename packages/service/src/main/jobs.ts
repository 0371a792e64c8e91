import { setMaxListeners } from 'node:events';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { archivedObjects, createArchiveJob } from '../modules/archive/index.js';
import { createEntitlements } from '../modules/catalog/index.js';
import { createCorrectionJob, createCorrectionProgressJob } from '../modules/corrections/index.js';
import { createCreditExpiryJob } from '../modules/ledger/index.js';
import {
  createLeaseExpiryJob,
  createSlidingWindowJob,
  createWorkerCatalog,
} from '../modules/limits/index.js';
import { createEventIdCompactionJob } from '../modules/pipeline/index.js';
import { createRetentionJob, type RetentionPolicy } from '../modules/storage/index.js';
import { createUnpricedDaysJob } from '../modules/usage/index.js';
import { createSender, createWebhookDispatcher } from '../modules/webhooks/index.js';
import { createNoteDeletionJob } from '../platform/changes/index.js';
import type { Logger } from '../platform/log/index.js';
import type { Metrics } from '../platform/metrics/index.js';
import {
  type ObjectKind,
  type ObjectStore,
  openOwnFolder,
  sweepUnusedObjects,
  UNUSED_AGE_MS,
} from '../platform/object-store/index.js';
import { oldestTransactionMs, type Postgres, type WorkWatch } from '../platform/postgres/index.js';
import { createSweepJob, type SweepJob } from '../platform/sweep-job.js';
import { baselineOf } from './baseline.js';
import { CorrectionsThread } from './corrections-host.js';
import { objectKinds } from './passing-bytes.js';
import type { Stores } from './stores.js';

/** Background work: expiry, and notifications. */
export interface RunningJobs {
  /** Stops when the current work has ended. */
  stop(): Promise<void>;
}

export interface JobParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly watch: WorkWatch;
  /** Called after each commit that left rows for ClickHouse. */
  readonly onCommitted: () => void;
}

/** Starts the jobs of a process with the worker role. Each may run in any number of processes at once. */
export function startJobs(
  config: Config,
  {
    postgres,
    clickhouse,
    objects,
    folders,
    archive,
    postgresConnection,
  }: Pick<Stores, 'postgres' | 'clickhouse' | 'objects' | 'folders' | 'archive' | 'postgresConnection'>,
  { log, metrics, watch, onCommitted }: JobParts,
): RunningJobs {
  if (!config.roles.includes('worker')) return { stop: async () => {} };
  const abort = new AbortController();
  const deps = { postgres, clock: systemClock, log, metrics };
  const send = createSender({ allowPrivate: config.webhookAllowPrivate });
  const entitlements = createEntitlements({ postgres, clock: systemClock, baseline: baselineOf(config) });
  const policy: RetentionPolicy = {
    retentionOf: (tx, tenantId) => entitlements.historyRetention(tenantId, tx),
  };
  const corrections = new CorrectionsThread({
    data: { postgresConnection, folders, objectStore: config.objectStoreUrl, logLevel: config.logLevel },
    clickhouse,
    onCommitted,
  });
  const jobs = [
    createCorrectionJob({
      ...deps,
      isAlone: config.databaseUrl === undefined,
      advance: (signal) => corrections.advance(signal),
    }),
    createCorrectionProgressJob(deps),
    createCreditExpiryJob(deps),
    createLeaseExpiryJob(deps),
    createSlidingWindowJob({ ...deps, catalog: createWorkerCatalog() }),
    createWebhookDispatcher({ ...deps, send }),
    createRetentionJob({ ...deps, clickhouse, policy }),
    createEventIdCompactionJob(deps),
    createUnpricedDaysJob({ postgres, clickhouse, log }),
    createNoteDeletionJob({ postgres, log }),
    ...objectSweeps({ postgres, objects, folders }, log),
    ...(archive === undefined ? [] : [createArchiveJob({ ...deps, clickhouse, archive })]),
  ];
  for (const { awaited = [] } of jobs) for (const work of [awaited].flat()) watch.add(work);
  // Each job waits for the signal, so Node would take more than ten of them for a leak.
  setMaxListeners(jobs.length + 1, abort.signal);
  const running = Promise.all(jobs.map((job) => job.run(abort.signal)));
  return {
    async stop() {
      abort.abort();
      await running;
      await corrections.close();
    },
  };
}

/** Interval between sweeps of objects that a crash has left behind. It is long, because they only take space. */
const OBJECT_SWEEP_POLL_MS = 3_600_000;

/** Returns the jobs that delete old objects to which no row points and no row can point later. */
function objectSweeps(
  { postgres, objects, folders }: Pick<Stores, 'postgres' | 'objects' | 'folders'>,
  log: Logger,
): SweepJob[] {
  if (objects !== undefined) {
    return [createObjectSweepJob(postgres, async () => objects, objectKinds(postgres), log)];
  }
  if (folders === undefined) return [];
  return [
    createObjectSweepJob(postgres, () => openOwnFolder(folders.archive), [archivedObjects(postgres)], log),
  ];
}

function createObjectSweepJob(
  postgres: Postgres,
  openStore: () => Promise<ObjectStore>,
  kinds: readonly ObjectKind[],
  log: Logger,
): SweepJob {
  return createSweepJob({
    async sweep(signal) {
      // A transaction that is older than half of the age may still write a row that points at an object.
      if ((await oldestTransactionMs(postgres)) > UNUSED_AGE_MS / 2) return 0;
      const store = await openStore();
      let deleted = 0;
      for (const kind of kinds) deleted += await sweepUnusedObjects(store, kind, systemClock.nowMs(), signal);
      return deleted;
    },
    pollMs: OBJECT_SWEEP_POLL_MS,
    log,
    failureMessage: 'unused objects could not be deleted',
  });
}
