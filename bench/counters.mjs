// How much more it costs to rate by the total of a counter than by a price per unit.
//
//     node bench/counters.mjs [events=100000] [rounds=3]
//
// Two projects get the same events of 600 bytes with two charge items, of 10,000 subjects, in turns. One has a price
// per unit; the other has graduated tiers of the month for each subject, so each batch moves thousands of counters.
// Prints the processor time per event, from the first request until all events can be queried, and the ratio of both
// in the median round, and in those with the least and the greatest ratio: other work on the machine slows single turns
// down. The threads of ClickHouse that merge parts of tables are left out: both projects share the tables, and a merge
// falls into a turn by chance. Then the stores are compared. Needs a build, and Linux.
import { pricedByTotal, RULE_SET } from './events.mjs';
import { readOptions } from './options.mjs';
import { mergeCpuSeconds, usageOf } from './processes.mjs';
import { quantile } from './quantile.mjs';
import { printTable } from './report.mjs';
import { BenchService } from './service.mjs';
import { ServiceLoad } from './service-load.mjs';

const { events, rounds } = readOptions({ events: 100_000, rounds: 3 });
/** A look at the metrics takes milliseconds of the service, and must not count as a cost of rating. */
const POLL_MS = 1_000;
const SECONDS_MAX = 3_600;

const service = await BenchService.start();
try {
  const [perUnit, byTotal] = await service.createProjects(2);
  await priceByTotal(byTotal);
  const load = new ServiceLoad(service, 'counters', POLL_MS);
  const rows = [['price', 'round', 'events', 'service µs/event', 'PostgreSQL µs/event']];
  const costs = new Map([
    [perUnit, []],
    [byTotal, []],
  ]);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [project, name] of [
      [perUnit, 'per unit'],
      [byTotal, 'by total'],
    ]) {
      const before = cpuSeconds();
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
      const now = cpuSeconds();
      const count = load.accepted - acceptedBefore;
      const perEvent = (part) => ((now[part] - before[part]) * 1e6) / count;
      const [ofService, ofPostgres] = ['service', 'postgres'].map(perEvent);
      // The first round warms the service up.
      if (round > 0) costs.get(project).push(ofService + ofPostgres);
      rows.push([name, String(round), String(count), ofService.toFixed(1), ofPostgres.toFixed(1)]);
    }
  }
  printTable('Rating', rows);
  console.log(`by total ÷ per unit, all processes: ${ratios(costs.get(byTotal), costs.get(perUnit))}`);
  await service.stop();
  console.log(`the stores are ${(await service.verify()) ? 'equal' : 'NOT EQUAL'}`);
} finally {
  await service.stop();
  service.removeData();
}

function cpuSeconds() {
  const { service: ofService, postgres } = usageOf(service.pid);
  return {
    service: ofService.cpuSeconds - mergeCpuSeconds(service.pid),
    postgres: postgres.cpuSeconds,
  };
}

/** Returns the median of the ratios of all rounds, and the least and the greatest. */
function ratios(dividends, divisors) {
  const ofRounds = dividends.map((cost, round) => cost / divisors[round]).sort((a, b) => a - b);
  const [least, greatest] = [ofRounds.at(0), ofRounds.at(-1)].map((ratio) => ratio.toFixed(2));
  return `${quantile(ofRounds, 0.5).toFixed(2)} (in one round ${least} to ${greatest})`;
}

async function priceByTotal({ id, ruleSetId }) {
  const url = `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}`;
  await service.ask('PUT', url, pricedByTotal(RULE_SET));
  await service.ask('POST', `${url}/publish`);
}
