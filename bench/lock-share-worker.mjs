// One worker of lock-share.mjs, which starts it by fork(), sends its plan, and ends it by SIGTERM.
import { join } from 'node:path';
import { systemClock } from '../packages/service/dist/kernel/clock.js';
import { createWorkerCatalog } from '../packages/service/dist/modules/limits/index.js';
import { createFileSpool, createPipelineWorker } from '../packages/service/dist/modules/pipeline/index.js';
import { createRuleVersions } from '../packages/service/dist/modules/rules/index.js';
import { connectPostgres } from '../packages/service/dist/platform/postgres/index.js';
import { PostgresSegmentQueue, SegmentFiles } from '../packages/service/dist/platform/queue/index.js';

const log = { info() {}, warn: console.warn, error: console.error };

process.once('message', async ({ connection, dataDir, loops }) => {
  const postgres = connectPostgres({ connection, applicationName: 'bench-worker', poolMax: 4 * loops, log });
  const queue = new PostgresSegmentQueue(postgres, await SegmentFiles.open(join(dataDir, 'segments')));
  const fail = (error) => {
    console.error(error);
    process.exit(1);
  };
  const observer = { stage() {}, batch() {}, batchFailed: fail, spoolCorrupt: fail, defect: fail };
  const worker = createPipelineWorker(
    {
      postgres,
      queue,
      rules: createRuleVersions(postgres),
      limits: createWorkerCatalog(),
      spool: await createFileSpool(join(dataDir, 'spool')),
      clock: systemClock,
      observer,
      onCommitted() {},
    },
    { loops },
  );
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  process.send('started');
  await worker.run(stop.signal);
  await postgres.close();
  process.disconnect();
});
