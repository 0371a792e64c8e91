// Calculates how many events one PostgreSQL and several cells handle, by simulating shards with measured costs.
//
//     node bench/sizing.mjs [cores=2,4,8,16,32] [shards=1,8,32] [cells=1,5,10,20] [projects=200] [skew=0.5]
//                           [seconds=20] [walMBps=400] [syncUs=800] [tenants=2000] [forwardUs=0.7]
//
// The costs of an event are in sizing/costs.json: those of bench/wal.mjs (PostgreSQL, log) and bench/pipeline.mjs (own
// time) on two cores. Nothing is measured here: the result is only as good as the costs, and leaves out the time for
// which many connections of one PostgreSQL delay each other. `cores` are those of PostgreSQL. API processes, workers
// and projectors have their own machines, as many as can be kept busy. `skew` is the exponent of the sizes of projects:
// with 0 all are equal, with 1 the n-th project has 1/n of the events of the first.
import { readFileSync } from 'node:fs';
import { readOptions } from './options.mjs';
import { printTable } from './report.mjs';
import { simulateCell } from './sizing/cell.mjs';

const DEFAULTS = {
  cores: '2,4,8,16,32',
  shards: '1,8,32',
  cells: '1,5,10,20',
  projects: 200,
  skew: 0.5,
  seconds: 20,
  walMBps: 400,
  syncUs: 800,
  tenants: 2_000,
  forwardUs: 0.7,
};
const options = readOptions(DEFAULTS);
const TIME = { warmupSeconds: 5, seconds: options.seconds };
/** The exponent of the sizes of 2,000 tenants, which differ less than the sizes of one tenant's projects. */
const TENANT_SKEW = 0.7;

const COSTS = JSON.parse(readFileSync(new URL('sizing/costs.json', import.meta.url), 'utf8'));
const percent = (share) => `${(100 * share).toFixed(0)} %`;
const thousands = (number) => Math.round(number).toLocaleString('en-US');
const numbers = (text) => text.split(',').map(Number);

for (const [name, costs] of Object.entries(COSTS)) {
  printTable(`One cell: ${name}, ${options.projects} projects in the same sizes for all rows`, [
    [
      'PostgreSQL cores',
      'shards',
      'workers',
      'events/s',
      'PostgreSQL',
      'WAL',
      'workers busy',
      'wait for locks',
      'ends at',
    ],
    ...numbers(options.cores).flatMap((cores) =>
      numbers(options.shards).map((shards) => rowOfCell(costs, cores, shards)),
    ),
  ]);
}
printTable('Cells of 32 PostgreSQL cores and 32 shards, each at 70 % of its maximum', [
  ['costs', 'cells', 'events/s', 'busiest cell', 'API cores that forward'],
  ...Object.entries(COSTS).flatMap(([name, costs]) => rowsOfCells(name, costs)),
]);

function rowOfCell(costs, cores, shards) {
  const size = sizeOf(costs, cores, shards);
  const { eventsPerSecond, shares, lockWait, end } = simulateCell(costs, size, TIME);
  return [
    String(cores),
    String(shards),
    String(size.workers),
    thousands(eventsPerSecond),
    percent(shares.PostgreSQL),
    percent(shares.WAL),
    percent(shares.workers),
    percent(lockWait),
    end,
  ];
}

/** Returns a cell with enough processes to use all of PostgreSQL, as far as the shards allow. */
function sizeOf({ accept, rate, project }, cores, shards) {
  const eventsPerUs = cores / (accept.postgresUs + rate.postgresUs + project.postgresUs);
  const processes = (ownUs) => Math.max(1, Math.ceil(1.3 * eventsPerUs * ownUs));
  const ofRating = rate.ownUs + rate.postgresUs / 2;
  return {
    postgresCores: cores,
    shards,
    apis: processes(accept.ownUs + accept.postgresUs + (1.5 * options.syncUs) / 500),
    // Workers without a shard of their own only wait for each other; four workers gave the best result.
    workers: shards === 1 ? Math.min(4, processes(ofRating)) : Math.min(shards, processes(ofRating)),
    projectors: Math.min(shards, processes(project.ownUs + project.postgresUs)),
    projects: options.projects,
    skew: options.skew,
    walBytesPerUs: options.walMBps,
    syncUs: options.syncUs,
  };
}

function rowsOfCells(name, costs) {
  const { eventsPerSecond } = simulateCell(costs, sizeOf(costs, 32, 32), TIME);
  return numbers(options.cells).map((cells) => {
    const busiest = shareOfBusiest(cells);
    const total = (0.7 * eventsPerSecond) / busiest;
    const forwarded = total * (1 - 1 / cells);
    return [
      name,
      String(cells),
      thousands(total),
      `${percent(busiest * cells - 1)} above mean`,
      ((forwarded * options.forwardUs) / 1e6).toFixed(1),
    ];
  });
}

/** Returns the share of all events that the busiest cell has, when each tenant is placed in the least loaded cell. */
function shareOfBusiest(cells) {
  const loads = new Array(cells).fill(0);
  for (let rank = 1; rank <= options.tenants; rank += 1) {
    loads[loads.indexOf(Math.min(...loads))] += 1 / rank ** TENANT_SKEW;
  }
  return Math.max(...loads) / loads.reduce((sum, load) => sum + load, 0);
}
