import { workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.js';
import { advanceCorrections } from '../modules/corrections/index.js';
import { createWorkerCatalog } from '../modules/limits/index.js';
import { createRollupDimensions } from '../modules/pipeline/index.js';
import { createRuleSets, createRuleVersions } from '../modules/rules/index.js';
import { createUsageHistory } from '../modules/storage/index.js';
import { UsageBlock } from '../modules/usage/index.js';
import { createLog } from '../platform/log/index.js';
import { openObjectStore } from '../platform/object-store/index.js';
import { connectPostgres } from '../platform/postgres/index.js';
import { serveJobs } from '../platform/threads/index.js';
import { upToDateBehind } from './clickhouse-calls.js';
import type { CorrectionCalls, CorrectionJobs, CorrectionsThreadData } from './corrections-jobs.js';
import { openSpool } from './passing-bytes.js';
import { yieldThisThread } from './priority.js';

/** Plans, applies and reverts corrections without delaying requests and new events. It can be stopped at any time. */

const data = workerData as CorrectionsThreadData;
const log = createLog({ level: data.logLevel, role: 'worker' });
yieldThisThread(log, data.niceness);
const postgres = connectPostgres({
  connection: data.postgresConnection,
  applicationName: 'tollgate corrections',
  // A step holds one connection. On another it reads rules and routes, and in between what the next step needs.
  poolMax: 2,
  log,
});
const clock = systemClock;
const objects = data.objectStore && (await openObjectStore(data.objectStore));
const engine = {
  postgres,
  history: createUsageHistory({ postgres }),
  clock,
  log,
  ruleSets: createRuleSets({ postgres, clock }),
  published: createRuleVersions(postgres),
  limits: createWorkerCatalog(),
  spool: await openSpool({ folders: data.folders, objects }),
  rollup: createRollupDimensions(postgres),
  block: new UsageBlock(),
  onDefect: (error: unknown) => log.error({ err: error }, 'an event met a defect in a correction'),
};

serveJobs<CorrectionJobs, CorrectionCalls>({
  advance: ({ msMax }, call) => {
    const endMs = performance.now() + msMax;
    const deps = {
      ...engine,
      clickhouse: { upToDate: async (tables: readonly string[]) => upToDateBehind(call, tables) },
      onCommitted: () => void call('committed', undefined),
    };
    return advanceCorrections(deps, () => performance.now() >= endMs);
  },
});
