// Measures the limit requests that clients send before the work: the realtime snapshot and the check at a fixed
// rate, alone and while the pipeline runs, and budget leases on one hot limit, against the service as it is
// shipped.
//
//     node bench/realtime.mjs [rate=500] [seconds=20] [events=10000] [connections=64]
//
// `events` is the load of the running pipeline, in events per second. Prints p50 and p99 in milliseconds: of
// the server, from its own histogram (the share of requests in a bucket, spread evenly over it), and of the
// client, which shares the machine. Needs a build.
import { SUBJECTS } from './events.mjs';
import { PLAN_RULES } from './limits.mjs';
import { readOptions } from './options.mjs';
import { generateLoad, generateRequests, usageOf } from './processes.mjs';
import { BenchService } from './service.mjs';

const options = readOptions({ rate: 500, seconds: 20, events: 10_000, connections: 64 });
const ASKED_SUBJECTS = 1_000;
const PIPELINE_CONNECTIONS = 8;
const WARM_UP_SECONDS = 3;
const LOOK_ROUTES = ['/subject/realtime/limits', '/subject/realtime/check'];
const LEASE_ROUTES = ['/budget-leases'];

const service = await BenchService.start();
try {
  const [project] = await service.createProjects(1);
  const url = `/v1/projects/${project.id}`;
  const planId = await makePlan(url);
  await service.ask('POST', `${url}/subject-routes`, {
    subject_type: 'user',
    subject_id: '*',
    usage_limit_plan_id: planId,
  });
  await makeHotSubject(url);
  const looks = lookRequests(url);
  await generate({ requests: looks, perSecond: options.rate, seconds: WARM_UP_SECONDS });
  await measured('limits and checks, alone', LOOK_ROUTES, { requests: looks, perSecond: options.rate });
  const beside = generateLoad({
    ...service.address,
    kind: 'batch',
    targets: [{ path: `${url}/events/batch-ingest`, ...project }],
    connections: PIPELINE_CONNECTIONS,
    seconds: WARM_UP_SECONDS + options.seconds * 2,
    eventsPerSecond: options.events,
    runId: 'realtime',
  });
  await generate({ requests: looks, perSecond: options.rate, seconds: WARM_UP_SECONDS });
  await measured('the same beside the pipeline', LOOK_ROUTES, { requests: looks, perSecond: options.rate });
  const lease = { method: 'POST', path: `${url}/budget-leases`, body: hotLease() };
  const hot = { requests: [lease], connections: options.connections };
  await measured('leases on one limit, beside it', LEASE_ROUTES, hot);
  const { accepted, seconds } = await beside;
  console.log(`  pipeline beside: ${Math.round(accepted / seconds)} events/s accepted`);
  await measured('leases on one limit, alone', LEASE_ROUTES, hot);
} finally {
  await service.stop();
}

async function makePlan(url) {
  const { id } = await service.ask('POST', `${url}/usage-limit-plans`, {
    name: 'bench',
    title: 'Benchmark',
    rules: PLAN_RULES,
  });
  await service.ask('POST', `${url}/usage-limit-plans/${id}/publish`);
  return id;
}

async function makeHotSubject(url) {
  const route = await service.ask('POST', `${url}/subject-routes`, {
    subject_type: 'user',
    subject_id: 'hot',
  });
  await service.ask('POST', `${url}/subject-routes/${route.id}/limits`, {
    limit_key: 'hot',
    measure: 'amount',
    selector_type: 'all',
    currency: 'USD',
    period: 'lifetime',
    limit_amount: '1000000',
    action: 'block',
  });
}

function hotLease() {
  return { subject_type: 'user', subject_id: 'hot', amount: '1', currency: 'USD', ttl_seconds: 600 };
}

/** Snapshots and checks in turn, of subjects that the pipeline counts. */
function lookRequests(url) {
  return Array.from({ length: ASKED_SUBJECTS }, (_, index) => {
    const id = `user-${String((index * 7) % SUBJECTS).padStart(5, '0')}`;
    const body = {
      subject_type: 'user',
      subject_id: id,
      metric: 'llm.input_tokens',
      amount: '0.01',
      currency: 'USD',
    };
    return index % 2 === 0
      ? { method: 'GET', path: `${url}/subject/realtime/limits?subject_type=user&subject_id=${id}` }
      : { method: 'POST', path: `${url}/subject/realtime/check`, body };
  });
}

async function measured(name, routes, plan) {
  const before = await buckets(routes);
  const cpuBefore = usageOf(service.pid);
  const { latencies, statuses } = await generate({ seconds: options.seconds, ...plan });
  const cpu = cpuEach(cpuBefore, usageOf(service.pid), latencies.length);
  const after = await buckets(routes);
  latencies.sort((a, b) => a - b);
  const ofClient = (share) => latencies[Math.floor(share * (latencies.length - 1))] ?? 0;
  const counts = after.map(({ bound, count }, at) => ({ bound, count: count - (before[at]?.count ?? 0) }));
  const text = (value) => value.toFixed(1).padStart(6);
  console.log(
    `${name.padEnd(32)} ${Math.round(latencies.length / options.seconds)}/s ${JSON.stringify(statuses)}\n` +
      `  server p50 ${text(quantile(counts, 0.5))} p99 ${text(quantile(counts, 0.99))}   ` +
      `client p50 ${text(ofClient(0.5))} p99 ${text(ofClient(0.99))}${cpu}`,
  );
}

/**
 * Processor time of a request, which says more than latencies on a busy machine. It includes that of a pipeline that
 * runs at the same time.
 */
function cpuEach(before, after, requests) {
  if (before === undefined || after === undefined) return '';
  const ms = (part) => (((after[part].cpuSeconds - before[part].cpuSeconds) * 1_000) / requests).toFixed(2);
  return `   cpu each: service ${ms('service')} PostgreSQL ${ms('postgres')}`;
}

/** Counts of the service's histogram up to each bound in milliseconds, over these routes. */
async function buckets(routes) {
  const text = await service.ask('GET', '/metrics');
  const counts = new Map();
  for (const [, labels, count] of text.matchAll(
    /^tollgate_http_request_duration_seconds_bucket\{(.*)\} (\S+)$/gm,
  )) {
    if (!routes.some((route) => labels.includes(`${route}"`))) continue;
    const bound = Number(/le="([^"]+)"/.exec(labels)[1].replace('+Inf', 'Infinity')) * 1_000;
    counts.set(bound, (counts.get(bound) ?? 0) + Number(count));
  }
  return [...counts].sort(([a], [b]) => a - b).map(([bound, count]) => ({ bound, count }));
}

function quantile(counts, share) {
  const wanted = share * (counts.at(-1)?.count ?? 0);
  let previous = { bound: 0, count: 0 };
  for (const bucket of counts) {
    if (bucket.count >= wanted && bucket.count > previous.count) {
      const part = (wanted - previous.count) / (bucket.count - previous.count);
      return bucket.bound === Infinity
        ? previous.bound
        : previous.bound + part * (bucket.bound - previous.bound);
    }
    previous = bucket;
  }
  return previous.bound;
}

function generate(plan) {
  const { address, serviceKey: apiKey } = service;
  return generateRequests({ address, apiKey, connections: options.connections, ...plan });
}
