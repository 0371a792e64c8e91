// How much more it costs to rate by the total of a counter than by a price per unit.
//
//     node bench/counters.mjs [events=100000] [rounds=3]
//
// Two projects get the same events of 600 bytes with two charge items, of 10,000 subjects, in turns. One has a price
// per unit; the other has graduated tiers of the month for each subject, so each batch moves thousands of counters.
// Prints the processor time per event, from the first request until all events can be queried, and the ratio of both.
// Then the stores are compared. Needs a build.
import { pricedByTotal, RULE_SET } from './events.mjs';
import { readOptions } from './options.mjs';
import { usageOf } from './processes.mjs';
import { printTable } from './report.mjs';
import { BenchService } from './service.mjs';
import { ServiceLoad } from './service-load.mjs';

const { events, rounds } = readOptions({ events: 100_000, rounds: 3 });
const POLL_MS = 100;
const SECONDS_MAX = 3_600;

const service = await BenchService.start();
try {
  const [perUnit, byTotal] = await service.createProjects(2);
  await priceByTotal(byTotal);
  const load = new ServiceLoad(service, 'counters', POLL_MS);
  const rows = [['price', 'round', 'events', 'service µs/event', 'PostgreSQL µs/event']];
  const sums = new Map([
    [perUnit, 0],
    [byTotal, 0],
  ]);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [project, name] of [
      [perUnit, 'per unit'],
      [byTotal, 'by total'],
    ]) {
      const before = usageOf(service.pid);
      const acceptedBefore = load.accepted;
      await load.send(
        [project],
        { kind: 'batch', connections: 4, seconds: SECONDS_MAX },
        {
          mayBeRefused: true,
          onProgress: ({ accepted }, generator) => accepted >= events && generator.order({ stop: true }),
        },
      );
      await load.drain();
      const now = usageOf(service.pid);
      const count = load.accepted - acceptedBefore;
      const perEvent = (part) => ((now[part].cpuSeconds - before[part].cpuSeconds) * 1e6) / count;
      const [ofService, ofPostgres] = ['service', 'postgres'].map(perEvent);
      // The first round warms the service up.
      if (round > 0) sums.set(project, sums.get(project) + ofService + ofPostgres);
      rows.push([name, String(round), String(count), ofService.toFixed(1), ofPostgres.toFixed(1)]);
    }
  }
  printTable('Rating', rows);
  console.log(`by total ÷ per unit, all processes: ${(sums.get(byTotal) / sums.get(perUnit)).toFixed(2)}`);
  await service.stop();
  console.log(`the stores are ${(await service.verify()) ? 'equal' : 'NOT EQUAL'}`);
} finally {
  await service.stop();
  service.removeData();
}

async function priceByTotal({ id, ruleSetId }) {
  const url = `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}`;
  await service.ask('PUT', url, pricedByTotal(RULE_SET));
  await service.ask('POST', `${url}/publish`);
}
