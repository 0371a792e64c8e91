// Analysis queries over history that ClickHouse makes up itself, through the service's own tables and view:
// the events of bench/events.mjs, spread evenly.
//
//     node bench/analysis.mjs [items=10000000] [days=90] [runs=50] [models=8] [regions=4] [requests=0]
//
// Two charge items an event. `requests` gives each event one more dimension, of so many values. Prints p50
// and p99 of each chart, one at a time, JSON rows included; its least processor time, which says more where
// the machine is busy with something else; and that of the same question typed into ClickHouse by hand. Needs
// a build, and no service.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../packages/service/dist/kernel/clock.js';
import { analyze, usedMetrics } from '../packages/service/dist/modules/analysis/index.js';
import { planSources, RESOLUTIONS_S } from '../packages/service/dist/modules/analysis/source.js';
import { ProjectHistory } from '../packages/service/dist/modules/storage/project-history.js';
import {
  applyClickHouseMigrations,
  openEmbeddedClickHouse,
} from '../packages/service/dist/platform/clickhouse/index.js';
import { readOptions } from './options.mjs';
import { quantile } from './quantile.mjs';

const options = readOptions({ items: 10_000_000, days: 90, runs: 50, models: 8, regions: 4, requests: 0 });

const SCOPE = {
  tenantId: 'ten_bench',
  projectId: 'prj_bench',
  projectNo: 1,
  storage: 'shared',
  retainedFrom: 0,
  // The worker keeps a dimension with so many values out of the rollup.
  excludedDimensions: options.requests === 0 ? [] : ['request'],
};
const METRICS = ['llm.input_tokens', 'llm.output_tokens'];
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const FROM_S = 1_749_945_600; // 2025-06-15 00:00 UTC
/** The end of the time range: not on a full minute, so that every source of usage is read. */
const TO_S = FROM_S + options.days * DAY_S - 17;
const EVENTS = options.items / 2;
const CHUNK_EVENTS = 250_000;
const WARM_UP_RUNS = 5;

const last = (seconds) => ({ from: Math.max(FROM_S, TO_S - seconds), to: TO_S });
const CHARTS = {
  'amount, all days × 1 day': {
    time_range: { from: FROM_S, to: TO_S },
    bucket_size: '1d',
    measures: ['amount'],
  },
  'amount by model, 30 days × 4 h': {
    time_range: last(30 * DAY_S),
    bucket_size: '4h',
    measures: ['amount'],
    group_by: ['model'],
  },
  'quantity, 24 h × 15 min': { time_range: last(DAY_S), bucket_size: '15m', measures: ['quantity'] },
  'all measures, 1 h × 1 min': { time_range: last(HOUR_S), bucket_size: '1m' },
  'totals of 30 days by model and region': {
    time_range: last(30 * DAY_S),
    bucket_size: 'none',
    group_by: ['model', 'region'],
  },
  'one subject, 7 days × 1 h': { time_range: last(7 * DAY_S), bucket_size: '1h', subject_id: 'user-7' },
};
const MORE = {
  'amount by model, 30 days × 4 h, Kathmandu': {
    ...CHARTS['amount by model, 30 days × 4 h'],
    timezone: 'Asia/Kathmandu',
  },
  'amount of all metrics, all days × 1 day': { ...CHARTS['amount, all days × 1 day'], split_by: [] },
  'amount of all metrics by model, 30 days × 4 h': {
    ...CHARTS['amount by model, 30 days × 4 h'],
    split_by: [],
  },
  'top 3 models and others, 30 days × 4 h': { ...CHARTS['amount by model, 30 days × 4 h'], limit: 3 },
  ...Object.fromEntries(
    Object.entries({
      'minimum, maximum, average': ['minimum', 'maximum', 'average'],
      'cost and margin': ['cost', 'margin'],
      percentiles: ['p50', 'p90', 'p95', 'p99'],
      'unique models': ['unique:model'],
      'unique subjects': ['unique:@subject_id'],
    }).map(([name, measures]) => [
      `${name}, all days × 1 day`,
      { time_range: { from: FROM_S, to: TO_S }, bucket_size: '1d', measures },
    ]),
  ),
  ...(options.requests > 0 && {
    'top 10 requests and others, 7 days × 1 day': {
      time_range: last(7 * DAY_S),
      bucket_size: '1d',
      measures: ['amount'],
      group_by: ['request'],
      limit: 10,
    },
  }),
};

const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-analysis-'));
const clickhouse = await openEmbeddedClickHouse({ dataDir });
try {
  await applyClickHouseMigrations(clickhouse);
  await fill();
  await mergeEndedMonths();
  await report();
} finally {
  await clickhouse.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function fill() {
  const { models, regions, requests } = options;
  const startMs = performance.now();
  for (let first = 0; first < EVENTS; first += CHUNK_EVENTS) {
    await clickhouse.command(
      `INSERT INTO usage_events (tenant_id, project_id, raw_event_id, occurred_at, received_at, processed_at, status,
         posting, source, subject_type, subject_id, extractor_rule_set_id, extractor_version, dimensions, raw_only,
         \`item.extractor_name\`, \`item.metric\`, \`item.unit\`, \`item.currency\`, \`item.quantity\`,
         \`item.unit_price\`, \`item.amount\`, \`item.discount\`, \`item.source\`, \`item.pricing_source\`,
         \`item.rule_set_id\`, \`item.rule_set_version\`, \`item.rule_name\`)
       WITH toUInt32({from:UInt32} + intDiv(number * ${TO_S - FROM_S}, ${EVENTS})) AS at,
         toDecimal128(100 + cityHash64(number, 1) % 3900, 18) AS input,
         toDecimal128(10 + cityHash64(number, 2) % 990, 18) AS output,
         toDecimal128('0.0000025', 18) AS input_price, toDecimal128('0.00001', 18) AS output_price
       SELECT {tenant:String}, {project:String}, unhex(concat(hex(at), substring(hex(sipHash128(number)), 1, 24))),
         toDateTime(at, 'UTC'), at, at, 'processed', 'posted', 'gateway', 'user',
         concat('user-', toString(cityHash64(number, 3) % 10000)), 'ers_bench', 1,
         map('model', concat('model-', toString(cityHash64(number, 4) % {models:UInt32})),
             'region', concat('region-', toString(cityHash64(number, 5) % {regions:UInt32}))${
               requests === 0
                 ? ''
                 : `, 'request', concat('req-', toString(cityHash64(number, 6) % ${requests}))`
             }),
         {raw:Array(String)},
         ['input', 'output'], {metrics:Array(String)}, ['token', 'token'], ['USD', 'USD'], [input, output],
         [input_price, output_price],
         [toDecimal128(toDecimal256(input, 18) * toDecimal256('0.0000025', 18), 18),
          toDecimal128(toDecimal256(output, 18) * toDecimal256('0.00001', 18), 18)],
         [toDecimal128(0, 18), toDecimal128(0, 18)],
         ['extractor', 'extractor'], ['extractor', 'extractor'], ['', ''], [0, 0], ['', '']
       FROM numbers({first:UInt64}, {count:UInt64})`,
      {
        tenant: SCOPE.tenantId,
        project: SCOPE.projectId,
        from: FROM_S,
        metrics: METRICS,
        models,
        regions,
        raw: SCOPE.excludedDimensions,
        first,
        count: Math.min(CHUNK_EVENTS, EVENTS - first),
      },
    );
  }
  const seconds = (performance.now() - startMs) / 1000;
  console.log(
    `${EVENTS} events, ${options.items} charge items, ${options.days} days, made in ${seconds.toFixed(0)} s`,
  );
  for (const table of ['usage_events', 'usage_rollup']) {
    const [{ rows, bytes }] = await clickhouse.query(
      `SELECT sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND table = '${table}'`,
    );
    console.log(`  ${table}: ${rows} rows, ${Math.round(bytes / 1_048_576)} MiB`);
  }
}

/**
 * Merges months as ClickHouse does by itself when nothing was added to a month for a day. The last month stays
 * as the inserts left it.
 */
async function mergeEndedMonths() {
  const current = new Date(TO_S * 1_000).toISOString().slice(0, 7).replace('-', '');
  const parts = await clickhouse.query(
    `SELECT table, partition, count() AS parts FROM system.parts WHERE active AND table IN ('usage_events', 'usage_rollup')
     GROUP BY table, partition ORDER BY table, partition`,
  );
  for (const { table, partition, parts: count } of parts) {
    if (partition !== current)
      await clickhouse.command(`OPTIMIZE TABLE ${table} PARTITION ${partition} FINAL`);
    else console.log(`  ${table}, current month: ${count} parts`);
  }
}

async function report() {
  const ask = (query) => () => analyze(clickhouse, systemClock, SCOPE, { metrics: METRICS, ...query });
  const entries = [
    ...Object.entries(CHARTS).map(([name, query]) => [name, ask(query), handWritten(query)]),
    ...Object.entries(MORE).map(([name, query]) => [name, ask(query)]),
    ['metrics in use', () => usedMetrics(new ProjectHistory(clickhouse, SCOPE))],
  ];
  const width = Math.max(...entries.map(([name]) => name.length));
  console.log(`${'milliseconds'.padEnd(width)}     p50     p99     cpu    rows   cpu by hand   ratio`);
  for (const [name, service, sql] of entries) {
    const { p50, p99, cpu, rows } = await measure(service);
    const columns = [p50.toFixed(1), p99.toFixed(1), cpu.toFixed(1), String(rows)];
    if (sql !== undefined) {
      const hand = await measure(() => clickhouse.query(sql));
      columns.push(hand.cpu.toFixed(1).padStart(12), (cpu / hand.cpu).toFixed(2));
    }
    console.log(`${name.padEnd(width)}${columns.map((text) => text.padStart(8)).join('')}`);
  }
}

/**
 * Returns the same query as plain SQL over the same tables: whole buckets from the rollup, the edges from the events.
 */
function handWritten({
  time_range: { from, to },
  bucket_size: size,
  measures,
  group_by: groups = [],
  subject_id: subject,
}) {
  const sizeS = { '1d': DAY_S, '4h': 4 * HOUR_S, '1h': HOUR_S, '15m': 900, '1m': 60, none: HOUR_S }[size];
  const starts = size === 'none' ? [] : [from - (from % sizeS), sizeS];
  const project = `tenant_id = '${SCOPE.tenantId}' AND project_id = '${SCOPE.projectId}'`;
  const metrics = METRICS.map((metric) => `'${metric}'`).join(', ');
  const names = measures ?? ['item_count', 'quantity', 'amount'];
  const groupColumns = groups.map((name) => `dimensions['${name}'] AS ${name}`);
  const within = (time, spans) =>
    spans
      .map((span) => `(${time} >= toDateTime(${span.from}) AND ${time} < toDateTime(${span.to}))`)
      .join(' OR ');
  const selects = planSources(from, to, starts, subject !== undefined).map(({ source, spans }) => {
    const resolution = RESOLUTIONS_S[source];
    if (resolution === undefined) {
      const fields = names.map((name) =>
        name === 'item_count' ? '1 AS item_count' : `toDecimal256(item.${name}, 18) AS ${name}`,
      );
      const kinds = ['metric', 'unit', 'currency'].map((name) => `item.${name} AS ${name}`);
      const arrays = ['metric', 'unit', 'currency', ...names.filter((name) => name !== 'item_count')];
      return `SELECT occurred_at AS at, ${[...kinds, ...groupColumns, ...fields].join(', ')} FROM usage_events
        ARRAY JOIN ${arrays.map((name) => `item.${name}`).join(', ')} WHERE ${project} AND (${within('occurred_at', spans)})
        ${subject === undefined ? '' : `AND subject_id = '${subject}'`} AND item.metric IN (${metrics})`;
    }
    return `SELECT bucket AS at, ${['metric', 'unit', 'currency', ...groupColumns, ...names].join(', ')} FROM usage_rollup
      WHERE ${project} AND resolution = ${resolution} AND (${within('bucket', spans)}) AND metric IN (${metrics})`;
  });
  const bucket = size === 'none' ? [] : [`toStartOfInterval(at, INTERVAL ${sizeS} SECOND) AS start`];
  const keys = [...(size === 'none' ? [] : ['start']), 'metric', 'unit', 'currency', ...groups].join(', ');
  return `SELECT ${[...bucket, 'metric', 'unit', 'currency', ...groups, ...names.map((name) => `sum(${name}) AS total_${name}`)].join(', ')}
    FROM (${selects.join(' UNION ALL ')}) GROUP BY ${keys} ORDER BY ${keys}`;
}

async function measure(ask) {
  const timesMs = [];
  const cpuMs = [];
  let rows = 0;
  for (let run = -WARM_UP_RUNS; run < options.runs; run += 1) {
    const startMs = performance.now();
    const startCpu = process.cpuUsage();
    const answer = await ask();
    const { user, system } = process.cpuUsage(startCpu);
    if (run >= 0) {
      timesMs.push(performance.now() - startMs);
      cpuMs.push((user + system) / 1000);
    }
    rows = (answer.rows ?? answer).length;
  }
  for (const values of [timesMs, cpuMs]) values.sort((a, b) => a - b);
  return { p50: quantile(timesMs, 0.5), p99: quantile(timesMs, 0.99), cpu: quantile(cpuMs, 0), rows };
}
