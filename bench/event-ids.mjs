// Measures the bytes of an event's id, and the time of a batch of ids, before and after old ids are compacted.
//
//     node bench/event-ids.mjs [ids=1000000] [events=500] [rounds=40]
//
// Records `ids` events of 30 days, and compacts those that are old enough. Before and after, it times batches of
// `events`: recent events, old events that are new, and old events that were sent before. Each batch is rolled back, so
// that all batches see the same ids. Times are those of one connection, including the round trips. Needs `npm run
// build`.

import { EventIds } from '../packages/service/dist/modules/pipeline/event-id-store.js';
import { createEventIdCompactionJob } from '../packages/service/dist/modules/pipeline/index.js';
import { createMetrics } from '../packages/service/dist/platform/metrics/index.js';
import { openEmbeddedStores } from './embedded-stores.mjs';
import { readOptions } from './options.mjs';
import { quantile } from './quantile.mjs';
import { printTable } from './report.mjs';

const { ids, events, rounds } = readOptions({ ids: 1_000_000, events: 500, rounds: 40 });
const NOW_S = 1_750_000_000;
const DAYS = 30;
const DAY_S = 86_400;
const FROM_S = NOW_S - DAYS * DAY_S;
const log = { info() {}, warn: console.warn, error: console.error };

const stores = await openEmbeddedStores({ poolMax: 3, withClickHouse: false });
const { postgres } = stores;
try {
  await query(`insert into tenants (id, name, created_at) values ('ten', 'ten', 0)`);
  const [{ no }] = await query(`insert into projects (tenant_id, id, name, kind, storage, created_at)
    values ('ten', 'prj', 'prj', 'development', 'shared', 0) returning no`);
  await makeIds();
  await query('create index on bench_ids (n)');
  const loose = await measured(() => record(no));
  const before = await batches(no);
  const compacted = await measured(() => compact());
  const after = await batches(no);
  printTable(`${ids} ids of ${DAYS} days`, [
    ['', 'loose', 'compacted'],
    ['bytes per id', ...(await bytesPerId(loose.size))],
    ['log (WAL), bytes per id', loose.wal.toFixed(0), `${compacted.wal.toFixed(0)} more`],
    ['µs per id', loose.µs.toFixed(1), `${compacted.µs.toFixed(1)} more`],
  ]);
  printTable(`A batch of ${events} events, ms (median of ${rounds})`, [
    ['', 'all ids loose', 'old ids compacted'],
    ...Object.keys(before).map((name) => [name, before[name].toFixed(2), after[name].toFixed(2)]),
  ]);
} finally {
  await stores.close();
}
process.exit();

async function query(sql, params) {
  return (await postgres.pool.query(sql, params)).rows;
}

function makeIds() {
  return query(`create unlogged table bench_ids as
    select n, (to_hex(${FROM_S}::bigint + n::bigint * ${DAYS * DAY_S} / ${ids}) || left(md5(n::text), 24))::uuid as id
    from generate_series(0, ${ids - 1}) n`);
}

/** Inserts in chunks, in the order of time, as batches of rating do. */
async function record(no) {
  const chunk = 10_000;
  for (let from = 0; from < ids; from += chunk) {
    await query(
      `insert into usage_event_ids select $1::integer, id from bench_ids
       where n >= $2::integer and n < $3::integer order by 1, 2`,
      [no, from, from + chunk],
    );
  }
  await query('vacuum analyze usage_event_ids');
  const [{ bytes }] = await query(`select pg_total_relation_size('usage_event_ids') as bytes`);
  return { count: ids, size: Number(bytes) / ids };
}

async function compact() {
  const clock = { nowMs: () => NOW_S * 1_000 };
  const job = createEventIdCompactionJob(
    { postgres, clock, log, metrics: createMetrics() },
    { stepPauseMs: 0 },
  );
  const count = await job.sweep();
  return { count };
}

/** µs and bytes of the log per id that `work` writes. */
async function measured(work) {
  const [{ lsn }] = await query('select pg_current_wal_lsn() as lsn');
  const start = performance.now();
  const { count, size } = await work();
  const µs = ((performance.now() - start) * 1_000) / count;
  const [{ bytes }] = await query('select pg_current_wal_lsn() - $1::pg_lsn as bytes', [lsn]);
  return { µs, wal: Number(bytes) / count, size };
}

async function bytesPerId(loose) {
  await query('vacuum analyze usage_event_id_blocks');
  const [{ bytes, count }] = await query(`select pg_total_relation_size('usage_event_id_blocks') as bytes,
    (select sum(cardinality(ids)) from usage_event_id_blocks) as count`);
  return [loose.toFixed(1), (Number(bytes) / Number(count)).toFixed(1)];
}

async function batches(no) {
  const known = await query('select id from bench_ids order by random() limit $1', [events * rounds]);
  const old = (id) => Number.parseInt(id.slice(0, 8), 16) < NOW_S - 3 * DAY_S;
  const hex = known.map(({ id }) => id.replaceAll('-', '')).filter(old);
  const random = () => Array.from({ length: 24 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
  const at = (seconds) => seconds.toString(16).padStart(8, '0') + random();
  const anyTime = () => FROM_S + Math.floor(Math.random() * (DAYS - 3) * DAY_S);
  const kinds = {
    'recent events': () => at(NOW_S),
    'old events, new': () => at(anyTime()),
    'old events, sent before': (place) => hex[place % hex.length],
  };
  const medians = {};
  for (const [name, idAt] of Object.entries(kinds)) {
    const took = [];
    const eventIds = new EventIds();
    for (let round = 0; round < rounds; round += 1) {
      const batch = Array.from({ length: events }, (_, n) => ({
        projectNo: no,
        idHex: idAt(round * events + n),
      }));
      took.push(await timeOf(eventIds, [...new Map(batch.map((key) => [key.idHex, key])).values()]));
    }
    medians[name] = quantile(
      took.toSorted((a, b) => a - b),
      0.5,
    );
  }
  return medians;
}

async function timeOf(eventIds, keys) {
  let ms = 0;
  const undo = new Error('undo');
  await postgres.db
    .transaction()
    .execute(async (tx) => {
      const start = performance.now();
      await eventIds.record(tx, keys, 0);
      ms = performance.now() - start;
      throw undo;
    })
    .catch((error) => {
      if (error !== undo) throw error;
    });
  return ms;
}
