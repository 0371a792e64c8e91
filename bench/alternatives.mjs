// Checks and leases of Tollgate beside what a team would write itself, in one run: PostgreSQL behind Fastify, and
// PostgreSQL with the budgets in Redis (skipped where redis-server is not installed).
//
//     node bench/alternatives.mjs [rate=500] [seconds=10] [rounds=2] [connections=32] [subjects=1000] [events=10000]
//       [levels=1]
//
// All take the same requests in turns, from a generator in another process. Prints, for each: at `rate` checks a
// second p50, p99 and the processor time of all its processes for each check; the checks a second with all connections
// busy; the leases a second on one hot budget; and the same latencies and leases while the pipeline of Tollgate rates
// `events` a second on the same machine. The hot budget of Tollgate has `levels` levels, each with a limit. The
// home-made ones have one budget for each subject and nothing else. Needs a build.
import { homeMade, tollgate } from './alternatives/services.mjs';
import { readOptions } from './options.mjs';
import { generateLoad, generateRequests } from './processes.mjs';
import { printTable } from './report.mjs';
import { BenchService } from './service.mjs';

const { rate, seconds, rounds, connections, subjects, events, levels } = readOptions({
  rate: 500,
  seconds: 10,
  rounds: 2,
  connections: 32,
  subjects: 1_000,
  events: 10_000,
  levels: 1,
});
const WARM_UP_SECONDS = 3;
const PIPELINE_CONNECTIONS = 4;
const ids = Array.from({ length: subjects }, (_, index) => `user-${String(index).padStart(5, '0')}`);

const service = await BenchService.start();
const targets = [];
try {
  const first = await tollgate(service, ids, levels);
  targets.push(first);
  for (const withRedis of [false, true]) {
    const target = await homeMade(ids, { withRedis });
    if (target === undefined) console.log('redis-server is not installed: PostgreSQL and Redis is skipped.');
    else targets.push(target);
  }
  for (const target of targets) await run(target, { requests: target.checks, seconds: WARM_UP_SECONDS });
  const alone = await measuredRounds();
  const beside = generateLoad({
    ...service.address,
    kind: 'batch',
    targets: [{ path: `/v1/projects/${first.project.id}/events/batch-ingest`, ...first.project }],
    connections: PIPELINE_CONNECTIONS,
    seconds: WARM_UP_SECONDS + seconds * rounds * targets.length * 3 + 10,
    eventsPerSecond: events,
    runId: 'alternatives',
  });
  await run(first, { requests: first.checks, perSecond: rate, seconds: WARM_UP_SECONDS });
  const nextTo = await measuredRounds();
  print('Alone', alone, true);
  print(`Beside ${events} events a second`, nextTo, false);
  const { accepted, seconds: took } = await beside;
  console.log(`  the pipeline beside accepted ${Math.round(accepted / took)} events/s`);
} finally {
  for (const target of targets) await target.stop();
  await service.stop();
  service.removeData();
}

/** Measures all targets in turns. Returns the results of each, by its name. */
async function measuredRounds() {
  const results = new Map(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) {
      const paced = await run(target, { requests: target.checks, perSecond: rate, seconds });
      const busy = await run(target, { requests: target.checks, seconds });
      const leases = await run(target, { requests: [target.lease], seconds });
      results.get(target.name).push({ paced, busy, leases });
    }
  }
  return results;
}

async function run(target, plan) {
  const before = target.cpuSeconds();
  const { latencies, statuses } = await generateRequests({
    address: target.address,
    apiKey: target.apiKey,
    connections,
    ...plan,
  });
  const count = latencies.length;
  const refused = Object.keys(statuses).filter((status) => status !== '200' && status !== '201');
  if (refused.length > 0) throw new Error(`${target.name} answered ${JSON.stringify(statuses)}`);
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(share * (count - 1))] ?? 0;
  const cpuMs = ((target.cpuSeconds() - before) * 1_000) / count;
  return { perSecond: count / plan.seconds, p50: at(0.5), p99: at(0.99), cpuMs };
}

function print(title, results, hasCpu) {
  const mean = (all, of) => all.reduce((sum, each) => sum + of(each), 0) / all.length;
  const cpu = (all, of) => (hasCpu ? `${mean(all, of).toFixed(3)} ms` : '');
  printTable(title, [
    [
      '',
      `checks at ${rate}/s: p50`,
      'p99',
      'CPU each',
      'checks/s',
      'CPU each',
      'leases/s',
      'CPU each',
      'p99',
    ],
    ...Array.from(results, ([name, all]) => [
      name,
      `${mean(all, ({ paced }) => paced.p50).toFixed(1)} ms`,
      `${mean(all, ({ paced }) => paced.p99).toFixed(1)} ms`,
      cpu(all, ({ paced }) => paced.cpuMs),
      String(Math.round(mean(all, ({ busy }) => busy.perSecond))),
      cpu(all, ({ busy }) => busy.cpuMs),
      String(Math.round(mean(all, ({ leases }) => leases.perSecond))),
      cpu(all, ({ leases }) => leases.cpuMs),
      `${mean(all, ({ leases }) => leases.p99).toFixed(1)} ms`,
    ]),
  ]);
}
