// The share of time for which workers wait for locks, by the numbers of workers, projects and shards.
//
//     node bench/lock-share.mjs [workers=1,2,4] [projects=1,50] [shards=1,8] [events=200000]
//
// Each worker is a process with two batches at once. Each project has 10,000 subjects, and every event is counted
// against five limits of its subject. A sampler asks PostgreSQL which connections wait for which lock. Needs a build
// and no service. The machine should have more processors than workers: a worker that holds a lock and waits for a
// processor makes the others wait longer.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EventQuotas } from '../packages/service/dist/modules/quotas/index.js';
import { PostgresSegmentQueue, SegmentFiles } from '../packages/service/dist/platform/queue/index.js';
import { openEmbeddedStores } from './embedded-stores.mjs';
import { readOptions } from './options.mjs';
import { createWaitingProjects, queueEvents } from './waiting-events.mjs';

const options = readOptions({ workers: '1,2,4', projects: '1,50', shards: '1,8', events: 200_000 });
const WARM_UP_EVENTS = 40_000;
const SAMPLE_MS = 10;
const LOOPS = 2;
const numbers = (text) => text.split(',').map(Number);
const percent = (share) => `${(100 * share).toFixed(1).padStart(5)} %`;

for (const projects of numbers(options.projects)) {
  for (const workers of numbers(options.workers)) {
    for (const shards of numbers(options.shards)) await measure(projects, workers, shards);
  }
}

async function measure(projects, workers, shards) {
  const stores = await openEmbeddedStores({ poolMax: 4, withClickHouse: false });
  const { dataDir, postgres } = stores;
  const children = [];
  try {
    const files = await SegmentFiles.open(join(dataDir, 'segments'));
    const queue = new PostgresSegmentQueue(postgres, files, { shards: () => shards });
    const quotas = new EventQuotas(postgres, queue);
    const waiting = await createWaitingProjects(postgres, projects, 1);
    const events = WARM_UP_EVENTS + options.events;
    await queueEvents(quotas, waiting, { first: 0, events, bodies: 2 });
    await files.close();
    for (let index = 0; index < workers; index += 1) {
      children.push(await startWorker({ connection: stores.connection, dataDir, loops: LOOPS }));
    }
    await rated(postgres, WARM_UP_EVENTS);
    const started = performance.now();
    const begun = await ratedEvents(postgres);
    const samples = await sampleUntil(postgres, events);
    const seconds = (performance.now() - started) / 1_000;
    report({ projects, workers, shards }, samples, (events - begun) / seconds);
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(children.map((child) => once(child, 'exit')));
    await stores.close();
  }
}

function report({ projects, workers, shards }, { count, posting, others, open }, eventsPerSecond) {
  const share = (waits) => percent(waits / (count * workers * LOOPS));
  console.log(
    `${String(projects).padStart(3)} projects, ${workers} workers, ${shards} shards: ${Math.round(eventsPerSecond)} events/s;` +
      ` of the time of their batches, ${share(posting)} wait for advisory locks, ${share(others)} for rows;` +
      ` ${share(open)} are in a transaction`,
  );
}

async function startWorker(plan) {
  const child = fork(fileURLToPath(new URL('lock-share-worker.mjs', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.once('exit', (code) => {
    if (code !== 0) throw new Error(`a worker ended with code ${code}`);
  });
  child.send(plan);
  await once(child, 'message');
  return child;
}

async function rated(postgres, events) {
  while ((await ratedEvents(postgres)) < events) await delay(SAMPLE_MS);
}

async function ratedEvents({ pool }) {
  const { rows } = await pool.query(
    'select coalesce(sum(event_count), 0)::float8 as events from usage_batches',
  );
  return rows[0].events;
}

/** Samples the waits of all workers until this many events are rated. */
async function sampleUntil(postgres, events) {
  const samples = { count: 0, posting: 0, others: 0, open: 0 };
  while ((await ratedEvents(postgres)) < events) {
    const { rows } = await postgres.pool.query(
      `select count(*) filter (where wait_event_type = 'Lock' and wait_event = 'advisory')::int as posting,
        count(*) filter (where wait_event_type = 'Lock' and wait_event <> 'advisory')::int as others,
        count(xact_start)::int as open
      from pg_stat_activity where application_name = 'bench-worker'`,
    );
    samples.count += 1;
    for (const name of ['posting', 'others', 'open']) samples[name] += rows[0][name];
    await delay(SAMPLE_MS);
  }
  return samples;
}
