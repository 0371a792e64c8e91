// How much twenty analysis boards that are refreshed at once slow down ingest, on the service as it is shipped.
//
//     node bench/boards.mjs [boards=20] [every=5] [seconds=20] [rounds=2] [rate=500] [history=200000]
//
// First `history` events are brought in. Then single events come at `rate` a second, in turns alone and beside `boards` boards of
// six charts, each refreshed every so many seconds, all at the same moment. Prints p50 and p99 of ingest, of the charts, and the
// ratio of ingest's p99; the aim is 2 at most. Needs a build, and the machine to itself.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { generateLoad } from './processes.mjs';
import { quantile } from './quantile.mjs';
import { BenchService } from './service.mjs';

const options = { boards: 20, every: 5, seconds: 20, rounds: 2, rate: 500, history: 200_000 };
for (const argument of process.argv.slice(2)) {
  const [name, value] = argument.split('=');
  if (!(name in options)) throw new Error(`unknown option ${name}`);
  options[name] = Number(value);
}
const CONNECTIONS = 32;
const BATCH_CONNECTIONS = 8;
const HISTORY_SECONDS_MAX = 300;
const METRICS = ['llm.input_tokens', 'llm.output_tokens'];
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const CHARTS = [
  { time_range: { last_seconds: 30 * DAY_S }, measures: ['amount'], bucket_size: '1d' },
  { time_range: { last_seconds: 30 * DAY_S }, measures: ['amount'], group_by: ['model'] },
  { time_range: { last_seconds: DAY_S }, measures: ['quantity'], bucket_size: '15m' },
  { time_range: { last_seconds: HOUR_S }, bucket_size: '1m' },
  { time_range: { last_seconds: 30 * DAY_S }, bucket_size: 'none', group_by: ['model', 'region'], limit: 5 },
  { time_range: { last_seconds: 7 * DAY_S }, subject_type: 'user', subject_id: 'user-7' },
];

const service = await BenchService.start();
try {
  const [project] = await service.createProjects(1);
  await makeHistory(project);
  const alone = [];
  const beside = [];
  for (let round = 0; round < options.rounds; round += 1) {
    alone.push(await ingest(project, `alone${round}`));
    const stop = new AbortController();
    const charts = refreshBoards(project, stop.signal);
    beside.push(await ingest(project, `beside${round}`));
    stop.abort();
    report(`${options.boards} boards`, await charts);
  }
  console.log(`ingest's p99 beside the boards, to that alone: ${(least(beside) / least(alone)).toFixed(2)}`);
} finally {
  await service.stop();
  service.removeData();
}

async function makeHistory({ id, ...target }) {
  let accepted = 0;
  const load = {
    ...service.address,
    kind: 'batch',
    targets: [{ path: `/v1/projects/${id}/events/batch-ingest`, ...target }],
    connections: BATCH_CONNECTIONS,
    seconds: HISTORY_SECONDS_MAX,
    runId: 'history',
  };
  ({ accepted } = await generateLoad(load, (progress, generator) => {
    if (progress.accepted >= options.history) generator.order({ stop: true });
  }));
  while ((await service.counters()).queryable < accepted) await delay(200);
  console.log(`${accepted} events of history`);
}

/** Single events at a fixed rate; the least p99 of the rounds tells what else runs on the machine from what the boards do. */
async function ingest({ id, ruleSetId, apiKey }, runId) {
  const { latencyMs, statuses } = await generateLoad({
    ...service.address,
    kind: 'single',
    targets: [
      { path: `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}/events/ingest`, ruleSetId, apiKey },
    ],
    connections: CONNECTIONS,
    seconds: options.seconds,
    eventsPerSecond: options.rate,
    runId,
  });
  const { p50, p99 } = latencyMs;
  console.log(
    `  ingest, ${runId}: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${JSON.stringify(statuses)}`,
  );
  return p99;
}

/** All charts of all boards at once, again and again. */
async function refreshBoards(project, signal) {
  const timesMs = [];
  while (!signal.aborted) {
    const next = delay(options.every * 1_000, undefined, { signal }).catch(() => {});
    const queries = Array.from({ length: options.boards }, () => CHARTS).flat();
    await Promise.all(queries.map((query) => ask(project, { metrics: METRICS, ...query }, timesMs)));
    await next;
  }
  return timesMs;
}

async function ask({ id, apiKey }, query, timesMs) {
  const startMs = performance.now();
  await service.ask('POST', `/v1/projects/${id}/analysis/query`, query, apiKey);
  timesMs.push(performance.now() - startMs);
}

function report(name, timesMs) {
  timesMs.sort((a, b) => a - b);
  const at = (share) => quantile(timesMs, share).toFixed(0);
  console.log(
    `  ${name}: ${timesMs.length} charts, p50 ${at(0.5)}, p99 ${at(0.99)} ms, waiting for each other`,
  );
}

function least(values) {
  return Math.min(...values);
}
