// How fast corrections are planned, applied and reverted, alone and next to new events.
//
//     node bench/corrections.mjs [events=1000000] [rate=5000] [seconds=20]
//
// One project has `events` events of 600 bytes with two charge items, posted to a wallet and counted against five
// limits of 10,000 subjects. All of them are rated again by prices that were doubled. Another project of the same
// tenant gets `rate` events a second: for `seconds` alone, then during corrections of the first project's events, of
// which one plans and applies the doubled prices, and one voids the events. Prints rates, processor time per event,
// memory, and the time of requests; then the stores are compared. Needs a build.
import { setTimeout as delay } from 'node:timers/promises';
import { RULE_SET } from './events.mjs';
import { readOptions } from './options.mjs';
import { usageOf } from './processes.mjs';
import { printTable } from './report.mjs';
import { BenchService } from './service.mjs';
import { ServiceLoad } from './service-load.mjs';

const { events, rate, seconds } = readOptions({ events: 1_000_000, rate: 5_000, seconds: 20 });
const POLL_MS = 100;
const LOAD_SECONDS_MAX = 3_600;
const LATEST = 4_000_000_000;

const service = await BenchService.start();
try {
  const [corrected, loaded] = await service.createProjects(2);
  await service.limitSubjects(corrected.id);
  const load = new ServiceLoad(service, 'corrections', POLL_MS);
  await load.send(
    [corrected],
    { kind: 'batch', connections: 4, seconds: LOAD_SECONDS_MAX },
    {
      mayBeRefused: true,
      onProgress: ({ accepted }, generator) => accepted >= events && generator.order({ stop: true }),
    },
  );
  await load.drain();
  await doublePrices(corrected);
  const rows = [
    [
      'step',
      'events',
      'seconds',
      'events/s',
      'service µs/event',
      'PostgreSQL µs/event',
      'service memory, MB',
    ],
  ];
  const { id } = await start(corrected, { action: 'rerate', dry_run: true });
  await measure(corrected, id, { step: 'plan', ends: 'planned' }, rows);
  await service.ask('POST', `${urlOf(corrected)}/${id}/apply`);
  await measure(corrected, id, { step: 'apply', ends: 'applied' }, rows);
  await load.drain();
  await service.ask('POST', `${urlOf(corrected)}/${id}/revert`);
  await measure(corrected, id, { step: 'revert', ends: 'reverted' }, rows);
  const alone = await load.send([loaded], plan(seconds));
  const run = { load, corrected, loaded, rows };
  const reratedBeside = await besideEvents(run, { action: 'rerate' }, 'rate again');
  const voidedBeside = await besideEvents(run, { action: 'void' }, 'void');
  printTable('Corrections', rows);
  printTable('Requests of 500 events', [
    ['', 'p50 ms', 'p99 ms'],
    ['alone', alone.latencyMs.p50.toFixed(1), alone.latencyMs.p99.toFixed(1)],
    ['next to rating again', reratedBeside.p50.toFixed(1), reratedBeside.p99.toFixed(1)],
    ['next to voiding', voidedBeside.p50.toFixed(1), voidedBeside.p99.toFixed(1)],
  ]);
  await service.stop();
  console.log(`the stores are ${(await service.verify()) ? 'equal' : 'NOT EQUAL'}`);
} finally {
  await service.stop();
  service.removeData();
}

/** Corrects all events of the first project while the other one gets events; returns the time of its requests. */
async function besideEvents({ load, corrected, loaded, rows }, asked, name) {
  const { id } = await start(corrected, asked);
  let generator;
  const sending = load.send([loaded], plan(LOAD_SECONDS_MAX), {
    onProgress: (_progress, sender) => {
      generator = sender;
    },
  });
  await measure(corrected, id, { step: `${name}, next to new events`, ends: 'applied' }, rows);
  generator?.order({ stop: true });
  const { latencyMs } = await sending;
  await settled([corrected, loaded]);
  return latencyMs;
}

/** Waits until everything that was accepted is rated and queryable: the rows of corrections are counted there too. */
async function settled(projects) {
  for (const { id } of projects) {
    while ((await service.ask('GET', `/v1/projects/${id}/usage/ingest-status`)).pending > 0)
      await delay(POLL_MS);
  }
  while ((await service.counters()).projectionOldestSeconds > 0) await delay(POLL_MS);
}

function plan(forSeconds) {
  return { kind: 'batch', connections: 4, seconds: forSeconds, eventsPerSecond: rate };
}

function urlOf({ id }) {
  return `/v1/projects/${id}/usage/corrections`;
}

function start(project, asked) {
  const body = { ...asked, filter: { from: 0, to: LATEST }, reason: 'benchmark' };
  return service.ask('POST', urlOf(project), body);
}

async function doublePrices({ id, ruleSetId }) {
  const url = `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}`;
  const doubled = RULE_SET.charge_item_extractors.map((item) => ({
    ...item,
    amount_expr: 'dec_mul(dec_mul(item.quantity, item.unit_price), dec("2"))',
  }));
  await service.ask('PUT', url, { ...RULE_SET, charge_item_extractors: doubled });
  await service.ask('POST', `${url}/publish`);
}

/** Waits until a correction has a status, and adds a row with its rate. */
async function measure(project, id, { step, ends }, rows) {
  const startMs = performance.now();
  const before = usageOf(service.pid);
  let memoryMb = 0;
  for (;;) {
    const correction = await service.ask('GET', `${urlOf(project)}/${id}`);
    const now = usageOf(service.pid);
    memoryMb = Math.max(memoryMb, now.service.rssBytes / 2 ** 20);
    if (correction.failure !== null) throw new Error(JSON.stringify(correction.failure));
    if (correction.status === ends) {
      const took = (performance.now() - startMs) / 1_000;
      const changed = correction.events_changed;
      const perEvent = (part) => ((now[part].cpuSeconds - before[part].cpuSeconds) * 1e6) / changed;
      const figures = [changed / took, perEvent('service'), perEvent('postgres'), memoryMb];
      rows.push([step, String(changed), took.toFixed(1), ...figures.map((figure) => figure.toFixed(0))]);
      return;
    }
    await delay(POLL_MS);
  }
}
