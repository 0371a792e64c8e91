import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { createEntitlements } from '../modules/catalog/index.js';
import { createCreditExpiryJob } from '../modules/ledger/index.js';
import { createLeaseExpiryJob } from '../modules/limits/index.js';
import { createRetentionJob, type RetentionPolicy } from '../modules/storage/index.js';
import { createUnpricedDaysJob } from '../modules/usage/index.js';
import { createSender, createWebhookDispatcher } from '../modules/webhooks/index.js';
import type { Logger } from '../platform/log/index.js';
import type { Metrics } from '../platform/metrics/index.js';
import type { WorkWatch } from '../platform/postgres/index.js';
import { baselineOf } from './baseline.js';
import type { Stores } from './stores.js';

/** Background work: expiry, and notifications. */
export interface RunningJobs {
  /** Stops when the current work has ended. */
  stop(): Promise<void>;
}

/** Starts the jobs of a process with the worker role. Each may run in any number of processes at once. */
export function startJobs(
  config: Config,
  { postgres, clickhouse }: Pick<Stores, 'postgres' | 'clickhouse'>,
  { log, metrics, watch }: { readonly log: Logger; readonly metrics: Metrics; readonly watch: WorkWatch },
): RunningJobs {
  if (!config.roles.includes('worker')) return { stop: async () => {} };
  const abort = new AbortController();
  const deps = { postgres, clock: systemClock, log, metrics };
  const send = createSender({ allowPrivate: config.webhookAllowPrivate });
  const entitlements = createEntitlements({ postgres, clock: systemClock, baseline: baselineOf(config) });
  const policy: RetentionPolicy = {
    retentionOf: (tx, tenantId) => entitlements.historyRetention(tenantId, tx),
  };
  const jobs = [
    createCreditExpiryJob(deps),
    createLeaseExpiryJob(deps),
    createWebhookDispatcher({ ...deps, send }),
    createRetentionJob({ ...deps, clickhouse, policy }),
    createUnpricedDaysJob({ postgres, clickhouse, log }),
  ];
  for (const { awaited = [] } of jobs) for (const work of [awaited].flat()) watch.add(work);
  const running = Promise.all(jobs.map((job) => job.run(abort.signal)));
  return {
    async stop() {
      abort.abort();
      await running;
    },
  };
}
