// The pipeline alone: segments that wait in the queue are rated and copied into ClickHouse, on one thread.
//
//     node --max-semi-space-size=64 bench/pipeline.mjs [events=400000] [projects=4] [loops=2] [batch=20000] [bodies=2]
//         [limits=0] [totals=0] [projector=1]
//
// `bodies` is the requests of 500 events in one segment. With `limits=1` every event is routed to an account
// and counted against the five rules of a plan, for each of 10,000 subjects; `limits=2` gives each of them a
// route of its own. With `totals=1` prices depend on the total of each subject's month. `projector=0` leaves out
// what copies into ClickHouse. Prints events per second, CPU time, and where the time of a batch goes: time that
// passed, so with two loops the stages overlap. Needs a build and no service; the rates need an idle machine, CPU
// time hardly does.
import { join } from 'node:path';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { systemClock } from '../packages/service/dist/kernel/clock.js';
import { createWorkerCatalog } from '../packages/service/dist/modules/limits/index.js';
import {
  createFileSpool,
  createPipelineWorker,
  createProjector,
} from '../packages/service/dist/modules/pipeline/index.js';
import { EventQuotas } from '../packages/service/dist/modules/quotas/index.js';
import { createRuleVersions } from '../packages/service/dist/modules/rules/index.js';
import { PostgresSegmentQueue, SegmentFiles } from '../packages/service/dist/platform/queue/index.js';
import { openEmbeddedStores } from './embedded-stores.mjs';
import { readOptions } from './options.mjs';
import { usageOf } from './processes.mjs';
import { createWaitingProjects, queueEvents } from './waiting-events.mjs';

const options = readOptions({
  events: 400_000,
  projects: 4,
  loops: 2,
  batch: 20_000,
  bodies: 2,
  limits: 0,
  totals: 0,
  projector: 1,
});

let gcMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcMs += duration;
}).observe({ entryTypes: ['gc'] });
const stores = await openEmbeddedStores({ poolMax: 8, withClickHouse: true });
const { dataDir, postgres, clickhouse } = stores;
try {
  const spool = await createFileSpool(join(dataDir, 'spool'));
  const queue = new PostgresSegmentQueue(postgres, await SegmentFiles.open(join(dataDir, 'segments')));
  const quotas = new EventQuotas(postgres, queue);
  const rules = createRuleVersions(postgres);
  const limits = createWorkerCatalog();
  const projects = await createWaitingProjects(postgres, options.projects, options.limits, options.totals);
  const worker = (observer, onCommitted) =>
    createPipelineWorker(
      { postgres, queue, rules, limits, spool, clock: systemClock, observer, onCommitted },
      { loops: options.loops, batchEventsMax: options.batch },
    );
  const projector = (observer) =>
    createProjector({ postgres, clickhouse, spool, clock: systemClock, observer });
  let sequence = 0;
  const rounds = [
    ['warm-up', Math.min(options.events, 60_000), false],
    ['worker', options.events, false],
    ['projector alone', options.events + Math.min(options.events, 60_000), true],
    ['worker + projector', options.events, true],
  ];
  for (const [name, events, isProjected] of rounds.slice(0, options.projector === 0 ? 2 : rounds.length)) {
    const isRated = name !== 'projector alone';
    if (isRated)
      sequence = await queueEvents(quotas, projects, { first: sequence, events, bodies: options.bodies });
    await measure(name, events, isProjected, (observer) => {
      const copies = isProjected ? projector(observer) : undefined;
      const rates = isRated ? worker(observer, () => copies?.notify()) : undefined;
      return [copies, rates].filter((part) => part !== undefined);
    });
  }
  const [count] = await clickhouse.query(
    'select count() as rows, sum(length(item.metric)) as items from usage_events',
  );
  console.log('in ClickHouse:', count, 'expected', sequence);
} finally {
  await stores.close();
}

/** Runs the parts until `events` are through the last of them; prints events per second and where the time went. */
async function measure(name, events, isProjected, start) {
  const stages = new Map();
  const stop = new AbortController();
  let [rated, projected] = [0, 0];
  const stopWhenDone = () => {
    if ((isProjected ? projected : rated) >= events) stop.abort();
  };
  const fail = (error) => {
    console.error(error);
    process.exitCode = 1;
    stop.abort();
  };
  const observer = {
    stage: (stage, ms) => stages.set(stage, (stages.get(stage) ?? 0) + ms),
    batch: ({ processed }) => {
      rated += processed;
      stopWhenDone();
    },
    group: (count) => {
      projected += count;
      stopWhenDone();
    },
    batchFailed: fail,
    groupFailed: fail,
    spoolCorrupt: fail,
    defect: fail,
  };
  const gcBefore = gcMs;
  const serverBefore = serverCpuSeconds();
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  await Promise.all(start(observer).map((part) => part.run(stop.signal)));
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const server = (serverCpuSeconds() - serverBefore) * 1_000_000;
  const done = isProjected ? projected : rated;
  console.log(
    `${name}: ${Math.round(done / seconds)} events/s, ${((user + system) / done).toFixed(1)} µs CPU of this process per event (${(((gcMs - gcBefore) * 1_000) / done).toFixed(1)} while it collected garbage), ${(server / done).toFixed(1)} µs of PostgreSQL`,
  );
  for (const [stage, ms] of stages)
    console.log(`  ${stage.padEnd(12)}${((ms * 1000) / done).toFixed(2).padStart(6)} µs`);
}

/** 0 elsewhere than on Linux. */
function serverCpuSeconds() {
  return usageOf(process.pid)?.postgres.cpuSeconds ?? 0;
}
