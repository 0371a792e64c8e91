// Measures how much a tenant with the most expensive rules that are allowed delays another tenant's events.
//
//     node bench/slow-tenant.mjs [events=10000] [rounds=2] [seconds=30] [rate=500]
//
// The other tenant sends `rate` single events a second for `seconds`: alone, then right after the slow tenant has
// sent its share of `events`, in turns. Ten times a second a probe measures the time from the 202 of an event of its
// own until that event can be read. After each turn the slow tenant's events are rated; in the first turn the service
// is killed meanwhile, and started again. Prints p50 and p99 of the probes, the ratio of the p99s (the aim is 2 at
// most), and how the slow tenant's events ended. Needs a build, and the machine to itself.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { publishSlowRules, slowBatch } from '../packages/service/dist/testing/slow-rules.js';
import { readOptions } from './options.mjs';
import { Probes } from './probes.mjs';
import { generateLoad } from './processes.mjs';
import { quantile } from './quantile.mjs';
import { BenchService } from './service.mjs';

const options = readOptions({ events: 10_000, rounds: 2, seconds: 30, rate: 500 });
const CONNECTIONS = 32;
const OTHER_PROJECTS = 4;
const BATCH_EVENTS = 500;
const RATIO_MAX = 2;
const DRAIN_TIMEOUT_MS = 3_600_000;
/** The rest of the slow tenant's events when the service is killed. */
const KILLED_AT_SHARE = 0.5;

const service = await BenchService.start();
try {
  const others = await service.createProjects(OTHER_PROJECTS);
  const slow = await createSlowProject();
  await load(others, 'warm-up');
  const alone = [];
  const beside = [];
  for (let round = 0; round < options.rounds; round += 1) {
    alone.push(...(await measure(others, `alone ${round}`)));
    const sent = await sendSlow(slow, round);
    beside.push(...(await measure(others, `beside ${round}`)));
    const { pending, deferred_count: deferred } = await statusOf(slow);
    console.log(`  then ${pending} of ${sent} slow events waited, ${deferred} of them deferred`);
    if (round === 0) await killWhile(slow, sent);
    await drained(slow);
  }
  const ratio = at(beside, 0.99) / at(alone, 0.99);
  console.log(`p99 beside slow events, to that alone: ${ratio.toFixed(2)}; at most ${RATIO_MAX} is the aim`);
  const { processed, failed, pending } = await statusOf(slow);
  console.log(`slow events: ${processed} rated, ${failed} failed with a reason, ${pending} left`);
  const isVerified = await service.verify();
  console.log(`tollgate verify: ${isVerified ? 'both stores equal' : 'THE STORES DIFFER'}`);
  if (processed + failed !== slow.sent || !isVerified) process.exitCode = 1;
} finally {
  await service.stop();
  service.removeData();
}

async function createSlowProject() {
  const [project] = await service.createProjects(1);
  const base = `/v1/projects/${project.id}`;
  const ruleSetId = await publishSlowRules((path, body) => service.ask('POST', `${base}${path}`, body));
  return { ...project, base, ruleSetId, sent: 0 };
}

async function sendSlow(slow, round) {
  const share = Math.ceil(options.events / options.rounds);
  for (let first = 0; first < share; first += BATCH_EVENTS) {
    const count = Math.min(BATCH_EVENTS, share - first);
    const name = `slow-${round}-${first}`;
    const batch = slowBatch(slow.ruleSetId, { name, count, occurredAt: Math.floor(Date.now() / 1_000) });
    await service.ask('POST', `${slow.base}/events/batch-ingest`, batch, slow.apiKey);
    slow.sent += count;
  }
  return share;
}

/** Runs the other tenant's load in another process, and the probes. @returns milliseconds from 202 to queryable */
async function measure(others, name) {
  const probes = new Probes(service, others, name);
  const { latencyMs, statuses } = await load(others, name);
  const delaysMs = await probes.stop();
  const accept = `accept p50 ${latencyMs.p50.toFixed(0)}, p99 ${latencyMs.p99.toFixed(0)} ms`;
  const queryable = `queryable p50 ${at(delaysMs, 0.5).toFixed(0)}, p99 ${at(delaysMs, 0.99).toFixed(0)} ms`;
  console.log(`${name}: ${queryable}, of ${delaysMs.length}; ${accept}, ${JSON.stringify(statuses)}`);
  return delaysMs;
}

function load(projects, name) {
  return generateLoad({
    ...service.address,
    kind: 'single',
    targets: projects.map(({ id, ruleSetId, apiKey }) => ({
      path: `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}/events/ingest`,
      ruleSetId,
      apiKey,
    })),
    connections: CONNECTIONS,
    seconds: options.seconds,
    eventsPerSecond: options.rate,
    runId: name.replaceAll(' ', '-'),
  });
}

function at(values, share) {
  return quantile(
    [...values].sort((a, b) => a - b),
    share,
  );
}

function statusOf({ base, apiKey }) {
  return service.ask('GET', `${base}/usage/ingest-status`, undefined, apiKey);
}

async function until(slow, what, holds) {
  const startMs = performance.now();
  while (!holds(await statusOf(slow))) {
    if (performance.now() - startMs > DRAIN_TIMEOUT_MS) throw new Error(`never ${what}`);
    await delay(500);
  }
}

async function killWhile(slow, sent) {
  await until(slow, 'half rated', ({ pending }) => pending <= KILLED_AT_SHARE * sent);
  const { deferred_count: deferred } = await statusOf(slow);
  await service.crash();
  console.log(`  killed while ${deferred} events were deferred, and started again`);
}

async function drained(slow) {
  const startMs = performance.now();
  await until(slow, 'drained', ({ pending, lag_seconds: lag }) => pending === 0 && lag === 0);
  console.log(`  all of them queryable after ${((performance.now() - startMs) / 1_000).toFixed(0)} s more`);
}
