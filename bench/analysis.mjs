// Analysis queries over history that ClickHouse makes up itself: the events of bench/events.mjs, spread over 30 days.
//
//     node bench/analysis.mjs [events=5000000] [runs=50] [models=4] [regions=3]
//
// Prints p50 and p99 of each query, one at a time, JSON rows included, and its p50 of processor time, which says more where
// the machine is busy with something else. Needs a build, and no service.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../packages/service/dist/kernel/clock.js';
import { analyze, usedMetrics } from '../packages/service/dist/modules/analysis/index.js';
import {
  applyClickHouseMigrations,
  openEmbeddedClickHouse,
} from '../packages/service/dist/platform/clickhouse/index.js';

const options = { events: 5_000_000, runs: 50, models: 4, regions: 3 };
for (const argument of process.argv.slice(2)) {
  const [name, value] = argument.split('=');
  if (!(name in options)) throw new Error(`unknown option ${name}`);
  options[name] = Number(value);
}

const SCOPE = { tenantId: 'ten_bench', projectId: 'prj_bench' };
const METRICS = ['llm.input_tokens', 'llm.output_tokens'];
const DAY_S = 86_400;
const FROM_S = 1_750_000_000;
const TO_S = FROM_S + 30 * DAY_S;
const CHUNK_EVENTS = 250_000;
const WARM_UP_RUNS = 5;

/** Ends in seconds that are no minute, as a chart of the last 30 days does: every table takes part. */
const DAYS_30 = { from: FROM_S, to: TO_S - 17 };
const QUERIES = {
  '30 days × 4 h × model': { time_range: DAYS_30, bucket_size: '4h', group_by: ['model'] },
  '30 days × 4 h × model, whole quarters of an hour': {
    time_range: { from: FROM_S - (FROM_S % 900), to: TO_S - (TO_S % 900) },
    bucket_size: '4h',
    group_by: ['model'],
  },
  '30 days × 4 h × model, New York': {
    time_range: DAYS_30,
    bucket_size: '4h',
    group_by: ['model'],
    timezone: 'America/New_York',
  },
  '30 days × 4 h × model × region, one filtered': {
    time_range: DAYS_30,
    bucket_size: '4h',
    group_by: ['model', 'region'],
    filters: { model: { not_in: ['model-0'] } },
  },
  '30 days, totals': { time_range: DAYS_30, bucket_size: 'none' },
  '1 day × 15 min': { time_range: { from: TO_S - DAY_S + 1, to: TO_S }, bucket_size: '15m' },
  '1 hour × 1 min × model': {
    time_range: { from: TO_S - 3_600, to: TO_S },
    bucket_size: '1m',
    group_by: ['model'],
  },
  '30 days × 4 h of one subject (events, not rollups)': {
    time_range: DAYS_30,
    bucket_size: '4h',
    subject_id: 'user-7',
  },
};

const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-analysis-'));
const clickhouse = await openEmbeddedClickHouse({ dataDir });
try {
  await applyClickHouseMigrations(clickhouse);
  await fill();
  await report();
} finally {
  await clickhouse.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function fill() {
  const { events, models, regions } = options;
  const startMs = performance.now();
  for (let first = 0; first < events; first += CHUNK_EVENTS) {
    await clickhouse.command(
      `INSERT INTO usage_events (tenant_id, project_id, raw_event_id, occurred_at, received_at, processed_at, status,
         posting, source, subject_type, subject_id, extractor_rule_set_id, extractor_version, dimensions,
         \`item.extractor_name\`, \`item.metric\`, \`item.unit\`, \`item.currency\`, \`item.quantity\`,
         \`item.unit_price\`, \`item.amount\`, \`item.discount\`, \`item.source\`, \`item.pricing_source\`,
         \`item.rule_set_id\`, \`item.rule_set_version\`, \`item.rule_name\`)
       WITH toUInt32({from:UInt32} + intDiv(number * ${TO_S - FROM_S}, {events:UInt64})) AS at,
         toDecimal128(100 + cityHash64(number, 1) % 3900, 18) AS input,
         toDecimal128(10 + cityHash64(number, 2) % 990, 18) AS output,
         toDecimal128('0.0000025', 18) AS input_price, toDecimal128('0.00001', 18) AS output_price
       SELECT {tenant:String}, {project:String}, unhex(concat(hex(at), substring(hex(sipHash128(number)), 1, 24))),
         toDateTime(at, 'UTC'), at, at, 'processed', 'posted', 'gateway', 'user',
         concat('user-', toString(cityHash64(number, 3) % 10000)), 'ers_bench', 1,
         map('model', concat('model-', toString(cityHash64(number, 4) % {models:UInt32})),
             'region', concat('region-', toString(cityHash64(number, 5) % {regions:UInt32}))),
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
        events,
        first,
        count: Math.min(CHUNK_EVENTS, events - first),
      },
    );
  }
  const seconds = (performance.now() - startMs) / 1000;
  console.log(`${events} events, ${events * 2} charge items, made in ${seconds.toFixed(0)} s`);
  for (const table of ['usage_events', 'usage_rollup']) {
    const [{ rows }] = await clickhouse.query(`SELECT count() AS rows FROM ${table}`);
    console.log(`  ${table}: ${rows} rows`);
  }
}

async function report() {
  const measured = { 'metrics in use': () => usedMetrics(clickhouse, SCOPE) };
  for (const [name, query] of Object.entries(QUERIES)) {
    measured[name] = () => analyze(clickhouse, systemClock, SCOPE, { metrics: METRICS, ...query });
  }
  const width = Math.max(...Object.keys(measured).map((name) => name.length));
  console.log(`${'milliseconds'.padEnd(width)}     p50     p99     cpu    rows`);
  for (const [name, ask] of Object.entries(measured)) {
    const { p50, p99, cpu, rows } = await measure(ask);
    const columns = [p50.toFixed(1), p99.toFixed(1), cpu.toFixed(1), String(rows)].map((text) =>
      text.padStart(8),
    );
    console.log(`${name.padEnd(width)}${columns.join('')}`);
  }
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
  return { p50: quantile(timesMs, 0.5), p99: quantile(timesMs, 0.99), cpu: quantile(cpuMs, 0.5), rows };
}

function quantile(values, share) {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(share * values.length))];
}
