// Write-ahead log and processor time of PostgreSQL per event, from its acceptance to ClickHouse.
//
//     node bench/wal.mjs [events=100000] [warmup=50000] [limits=0,1] [projects=1] [requestEvents=500]
//         [requests=1] [batch=20000] [stores=columns,folder,s3] [putMs=0] [outsideKib=64] [sizes=1] [clients=0]
//
// Each line is a process with empty stores. It accepts requests of `requestEvents` events of 600 bytes, `requests` of
// them as one segment, rates them in batches of up to `batch` events, and copies them into ClickHouse. `requestEvents=1
// requests=24` is like single events over 64 connections. With `limits=1`, each event is counted against five limits of
// its subject; each project has 10,000 subjects. The bytes of segments and rows are in columns of PostgreSQL, in a
// folder, or in an S3 server of this machine, whose responses are delayed by `putMs`; segments smaller than
// `outsideKib` stay in rows. The second table appends segments of different sizes. With `clients`, a third table sends
// single events from this many clients for ten seconds. Bytes of the log hardly depend on the machine; processor time
// is that of PostgreSQL's processes. Needs a build and no service.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { systemClock } from '../packages/service/dist/kernel/clock.js';
import { GroupCommit } from '../packages/service/dist/modules/ingest/group-commit.js';
import { createWorkerCatalog } from '../packages/service/dist/modules/limits/index.js';
import {
  createColumnSpool,
  createObjectSpool,
  createPipelineWorker,
  createProjector,
} from '../packages/service/dist/modules/pipeline/index.js';
import { EventQuotas } from '../packages/service/dist/modules/quotas/index.js';
import { createRuleVersions } from '../packages/service/dist/modules/rules/index.js';
import { PostgresSegmentQueue, SegmentObjects } from '../packages/service/dist/platform/queue/index.js';
import { openMarkedStore, S3_CREDENTIALS, TestS3 } from '../packages/service/dist/testing/object-stores.js';
import { openEmbeddedStores } from './embedded-stores.mjs';
import { singleBody } from './events.mjs';
import { readOptions } from './options.mjs';
import { usageOf } from './processes.mjs';
import { createWaitingProjects, queueEvents } from './waiting-events.mjs';

const options = readOptions({
  events: 100_000,
  warmup: 50_000,
  limits: '0,1',
  projects: 1,
  stores: 'columns,folder,s3',
  requestEvents: 500,
  requests: 1,
  batch: 20_000,
  putMs: 0,
  outsideKib: 64,
  sizes: 1,
  clients: 0,
});
/** Sizes of a segment in the second table, in KiB. */
const SEGMENT_KIB = [4, 8, 16, 32, 64, 128, 256, 1_024];
const SEGMENT_ROUNDS = 300;
/** Duration of the third table's lines. */
const CLIENTS_MS = 10_000;

if (process.send !== undefined) {
  process.send(await runLine(JSON.parse(process.env.BENCH_LINE)));
  process.exit(0);
}
const lines = [];
for (const limits of options.limits.split(',').map(Number)) {
  for (const store of options.stores.split(','))
    lines.push(await inProcess({ kind: 'events', store, limits }));
}
printEvents(lines);
if (options.sizes > 0) {
  const sizes = [];
  for (const store of options.stores.split(',')) sizes.push(await inProcess({ kind: 'segments', store }));
  printSegments(sizes);
}
if (options.clients > 0) {
  const clients = [];
  for (const store of options.stores.split(',')) clients.push(await inProcess({ kind: 'clients', store }));
  printClients(clients);
}

function inProcess(line) {
  const env = { ...process.env, ...S3_CREDENTIALS, BENCH_LINE: JSON.stringify(line) };
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), { env });
  return new Promise((resolve, reject) => {
    child.once('message', (result) => child.once('exit', () => resolve({ ...line, ...result })));
    child.once('exit', (code) => code !== 0 && reject(new Error(`a line ended with ${code}`)));
  });
}

async function runLine({ kind, store, limits }) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-objects-'));
  const s3 = store === 's3' ? await TestS3.start() : undefined;
  if (s3 !== undefined) s3.onRequest = () => new Promise((resolve) => setTimeout(resolve, options.putMs));
  const url = s3?.url('bench') ?? pathToFileURL(folder).href;
  const objects = store === 'columns' ? undefined : await openMarkedStore(url);
  const stores = await openEmbeddedStores({ poolMax: 8, withClickHouse: kind === 'events' });
  try {
    const run = { events: measureEvents, segments: measureSegments, clients: measureClients }[kind];
    return await run(stores, objects, limits);
  } finally {
    await stores.close();
    await objects?.close();
    await s3?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureEvents({ postgres, clickhouse }, objects, limits) {
  const queue = new PostgresSegmentQueue(postgres, objects && new SegmentObjects(objects), {
    outsideBytesMin: options.outsideKib * 1_024,
  });
  const spool = objects === undefined ? createColumnSpool() : createObjectSpool(objects);
  const quotas = new EventQuotas(postgres, queue);
  const projects = await createWaitingProjects(postgres, options.projects, limits);
  const fail = (error) => {
    throw error;
  };
  const observer = {
    stage() {},
    batch() {},
    group() {},
    batchFailed: fail,
    groupFailed: fail,
    spoolCorrupt: fail,
    defect: fail,
  };
  const deps = { postgres, queue, spool, clock: systemClock, observer, clickhouse, onCommitted() {} };
  const rating = { rules: createRuleVersions(postgres), limits: createWorkerCatalog() };
  const worker = createPipelineWorker({ ...deps, ...rating }, { batchEventsMax: options.batch });
  const projector = createProjector(deps);
  let first = 0;
  const steps = (events) => ({
    accept: async () => {
      first = await queueEvents(quotas, projects, {
        first,
        events,
        bodies: options.requests,
        requestEvents: options.requestEvents,
      });
    },
    rate: () => worker.drain(),
    project: () => projector.drain(),
  });
  for (const step of Object.values(steps(options.warmup))) await step();
  const events = options.events;
  const measured = {};
  for (const [name, step] of Object.entries(steps(events))) {
    measured[name] = await perUnit(postgres, events, step);
    await queue.sweepStore();
  }
  const [{ rows }] = await clickhouse.query('select toInt32(count()) as rows from usage_events');
  if (rows !== first) throw new Error(`${rows} of ${first} events are in ClickHouse`);
  return { measured };
}

async function measureSegments({ postgres }, objects) {
  const queue = new PostgresSegmentQueue(postgres, objects && new SegmentObjects(objects), {
    outsideBytesMin: 0,
  });
  const [{ tenantId, projectId, projectNo, storage }] = await createWaitingProjects(postgres, 1, 0);
  const scope = { kind: 'batch', tenantId, projectId, projectNo, storage, extractorRuleSetId: null };
  const quotas = new EventQuotas(postgres, queue);
  const measured = {};
  for (const kib of SEGMENT_KIB) {
    const record = {
      scope,
      receivedAtMs: Date.now(),
      eventCount: 1,
      ids: Buffer.alloc(16),
      body: Buffer.alloc(kib * 1_024, 'a'),
    };
    const append = () => quotas.appendWithinQuota([{ record, monthlyEventLimit: -1 }]);
    for (let round = 0; round < SEGMENT_ROUNDS / 4; round += 1) await append();
    measured[kib] = await perUnit(postgres, SEGMENT_ROUNDS, async () => {
      for (let round = 0; round < SEGMENT_ROUNDS; round += 1) await append();
    });
  }
  return { measured };
}

/** Each client sends its next event when it has the response to the previous one. */
async function measureClients({ postgres }, objects) {
  const queue = new PostgresSegmentQueue(postgres, objects && new SegmentObjects(objects), {
    outsideBytesMin: options.outsideKib * 1_024,
  });
  const commit = new GroupCommit({ quotas: new EventQuotas(postgres, queue) });
  const [project] = await createWaitingProjects(postgres, 1, 0);
  const body = Buffer.from(singleBody(0, 'run'));
  const scope = { kind: 'single', ...project, extractorRuleSetId: 'ers_bench' };
  const latencies = [];
  const send = async (untilMs) => {
    while (performance.now() < untilMs) {
      const record = { scope, receivedAtMs: Date.now(), eventCount: 1, ids: randomBytes(16), body };
      const started = performance.now();
      await commit.accept(record, { monthlyEventLimit: -1 });
      latencies.push(performance.now() - started);
    }
  };
  const all = (ms) => {
    const untilMs = performance.now() + ms;
    return Promise.all(Array.from({ length: options.clients }, () => send(untilMs)));
  };
  await all(CLIENTS_MS / 3);
  latencies.length = 0;
  const sum = await perUnit(postgres, 1, () => all(CLIENTS_MS));
  const events = latencies.length;
  latencies.sort((a, b) => a - b);
  const { rows } = await postgres.pool.query('select avg(event_count) as mean from segments');
  return {
    measured: {
      perSecond: events / (CLIENTS_MS / 1_000),
      p50Ms: latencies[Math.floor(events * 0.5)],
      p99Ms: latencies[Math.floor(events * 0.99)],
      perSegment: Number(rows[0].mean),
      walBytes: sum.walBytes / events,
      serverUs: sum.serverUs / events,
      ownUs: sum.ownUs / events,
    },
  };
}

/** Runs a step; returns, per unit, bytes of the log and microseconds of PostgreSQL, this process and the clock. */
async function perUnit({ pool }, units, step) {
  const before = (await pool.query('select pg_current_wal_insert_lsn() as lsn')).rows[0].lsn;
  const serverBefore = usageOf(process.pid)?.postgres.cpuSeconds ?? 0;
  const ownBefore = process.cpuUsage();
  const started = performance.now();
  await step();
  const elapsedMs = performance.now() - started;
  const { user, system } = process.cpuUsage(ownBefore);
  const server = (usageOf(process.pid)?.postgres.cpuSeconds ?? 0) - serverBefore;
  const { rows } = await pool.query('select (pg_current_wal_insert_lsn() - $1::pg_lsn)::bigint as bytes', [
    before,
  ]);
  return {
    walBytes: rows[0].bytes / units,
    serverUs: (server * 1_000_000) / units,
    ownUs: (user + system) / units,
    elapsedUs: (elapsedMs * 1_000) / units,
  };
}

function printEvents(lines) {
  console.log(
    'per event            WAL bytes: accept  rate  project   all   PostgreSQL µs: accept  rate  project   all',
  );
  for (const { store, limits, measured } of lines) {
    const of = (field) => ['accept', 'rate', 'project'].map((step) => measured[step][field]);
    const cells = (values, digits) =>
      [...values, values.reduce((sum, value) => sum + value, 0)]
        .map((value) => value.toFixed(digits).padStart(8))
        .join('');
    const name = `${store}, ${limits > 0 ? '5 limits' : 'no limits'}`;
    console.log(`${name.padEnd(26)}${cells(of('walBytes'), 0)}${' '.repeat(8)}${cells(of('serverUs'), 1)}`);
  }
}

function printSegments(lines) {
  console.log('\nper segment of      WAL bytes, PostgreSQL µs, own µs, µs until it is durable');
  for (const { store, measured } of lines) {
    for (const [kib, { walBytes, serverUs, ownUs, elapsedUs }] of Object.entries(measured)) {
      const cells = [walBytes, serverUs, ownUs, elapsedUs]
        .map((value) => value.toFixed(0).padStart(10))
        .join('');
      console.log(`${`${kib} KiB, ${store}`.padEnd(20)}${cells}`);
    }
  }
}

function printClients(lines) {
  console.log(
    '\nsingle events        events/s   p50 ms   p99 ms  a segment  WAL bytes  PostgreSQL µs  own µs',
  );
  for (const { store, measured } of lines) {
    const { perSecond, p50Ms, p99Ms, perSegment, walBytes, serverUs, ownUs } = measured;
    const cells = [perSecond, p50Ms, p99Ms, perSegment, walBytes, serverUs, ownUs];
    console.log(store.padEnd(16) + cells.map((value) => value.toFixed(1).padStart(11)).join(''));
  }
}
