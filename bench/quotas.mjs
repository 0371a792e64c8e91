// Accepting processes of one tenant, which count against the same quota.
//
//     node bench/quotas.mjs [rounds=5] [seconds=2] [requests=1,20,500] [limit=1000000000] [processes=2]
//
// Every process appends one segment after another; each segment has `requests` requests with one event of 600 bytes.
// The lines alternate, and show medians: one process; all processes, each for a tenant of its own, so that they do not
// wait for each other's quota; all processes for one tenant. `limit=-1` means no limit. Processor time is that of these
// processes and of PostgreSQL. The embedded PostgreSQL commits to disk, so rates depend on the disk too. Needs a build
// and no service.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EventQuotas } from '../packages/service/dist/modules/quotas/index.js';
import { connectPostgres } from '../packages/service/dist/platform/postgres/index.js';
import { PostgresSegmentQueue } from '../packages/service/dist/platform/queue/index.js';
import { openEmbeddedStores } from './embedded-stores.mjs';
import { cpuOf, inTurns, median } from './machines/measure.mjs';
import { readOptions } from './options.mjs';
import { printTable } from './report.mjs';

const EVENT_BYTES = 600;

async function compare() {
  const options = readOptions({
    rounds: 5,
    seconds: 2,
    requests: '1,20,500',
    limit: 1_000_000_000,
    processes: 2,
  });
  const { rounds, seconds, limit, processes } = options;
  const stores = await openEmbeddedStores({ poolMax: 2, withClickHouse: false });
  const children = Array.from(
    { length: processes },
    (_, index) => new Accepting(stores.connection, index + 1),
  );
  const table = [
    [
      'requests in a segment',
      'one process',
      'tenants of their own',
      'one tenant',
      'one / own',
      'CPU µs an event, each',
    ],
  ];
  try {
    for (const requests of options.requests.split(',').map(Number)) {
      const order = { requests, limit, ms: seconds * 1_000 };
      const cpu = { alone: [], own: [], shared: [] };
      const run = (name, some, tenantOf) => async () => {
        await stores.postgres.pool.query('truncate segments');
        const before = cpuOf(process.pid);
        const events = await Promise.all(
          some.map((child, at) => child.run({ ...order, tenantId: tenantOf(at) })),
        );
        const all = events.reduce((sum, count) => sum + count, 0);
        cpu[name].push((cpuOf(process.pid) - before) / all);
        return all / seconds;
      };
      const { alone, own, shared } = await inTurns(
        {
          alone: run('alone', children.slice(0, 1), () => 'ten_0'),
          own: run('own', children, (at) => `ten_${at}`),
          shared: run('shared', children, () => 'ten_0'),
        },
        rounds,
      );
      const cpuTexts = Object.values(cpu).map((values) => median(values).toFixed(1));
      table.push([
        String(requests),
        ...[alone, own, shared].map((rate) => `${Math.round(rate).toLocaleString('en')}/s`),
        (shared / own).toFixed(2),
        cpuTexts.join(', '),
      ]);
    }
  } finally {
    for (const child of children) child.stop();
    await stores.close();
  }
  printTable(`${processes} accepting processes, events`, table);
}

/** A process that accepts events. */
class Accepting {
  #child;

  constructor(connection, counterNo) {
    const env = { ...process.env, BENCH_ACCEPTING: JSON.stringify({ connection, counterNo }) };
    this.#child = fork(fileURLToPath(import.meta.url), { env });
  }

  /** Returns the number of events that it appended. */
  run(order) {
    return new Promise((resolve, reject) => {
      const fail = (code) => reject(new Error(`an accepting process ended with ${code}`));
      this.#child.once('exit', fail);
      this.#child.once('message', (events) => {
        this.#child.off('exit', fail);
        resolve(events);
      });
      this.#child.send(order);
    });
  }

  stop() {
    this.#child.disconnect();
  }
}

function serveOrders() {
  const { connection, counterNo } = JSON.parse(process.env.BENCH_ACCEPTING);
  const log = { info() {}, warn: console.warn, error: console.error };
  const postgres = connectPostgres({ connection, applicationName: 'accepting', poolMax: 2, log });
  const quotas = new EventQuotas(postgres, new PostgresSegmentQueue(postgres), counterNo);
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ tenantId, requests, limit, ms }) => {
    const asked = { record: recordOf(tenantId), monthlyEventLimit: limit };
    const endsAt = performance.now() + ms;
    let events = 0;
    while (performance.now() < endsAt) {
      const refusals = await quotas.appendWithinQuota(Array.from({ length: requests }, () => asked));
      if (refusals.length > 0) throw new Error('the quota is used up: choose a higher limit');
      events += requests;
    }
    process.send(events);
  });
}

function recordOf(tenantId) {
  return {
    scope: {
      kind: 'single',
      tenantId,
      projectId: `prj_of_${tenantId}`,
      projectNo: 1,
      storage: 'shared',
      extractorRuleSetId: 'ers_00000000000000000000000000000000',
    },
    receivedAtMs: Date.now(),
    eventCount: 1,
    ids: Buffer.alloc(16),
    body: Buffer.alloc(EVENT_BYTES, 'x'),
  };
}

if (process.send !== undefined) serveOrders();
else await compare();
