// The figures of a run as a table for people.

const MIB = 1_048_576;

export function printReport({ floors, service }) {
  const { idle, single, burst, sustained, halfLoad, overload, verify, stop } = service;
  const of = (value, floor) => ratio(value, floors[floor]?.eventsPerSecond);
  printTable('Floors: what the ingredients can do alone', [
    ['', 'events/s', 'p50', 'p99'],
    ...Object.entries(floors).map(([name, { eventsPerSecond, latencyMs }]) => [
      name,
      count(eventsPerSecond),
      name.endsWith('single') ? ms(latencyMs.p50) : '',
      name.endsWith('single') ? ms(latencyMs.p99) : '',
    ]),
  ]);
  printTable('Single events, 64 connections', [
    [
      'accepted',
      `${count(single.acceptedPerSecond)}/s`,
      `p50 ${ms(single.latencyMs.p50)}, p99 ${ms(single.latencyMs.p99)}`,
    ],
    ['of node:http', of(single.acceptedPerSecond, 'node:http + JSON.parse, single')],
    ['of Fastify + Ajv + SHA-256', of(single.acceptedPerSecond, 'Fastify + Ajv + SHA-256, single')],
  ]);
  printTable('Batches of 500, a burst', [
    [
      'accepted',
      `${count(burst.acceptedPerSecond)}/s`,
      `p50 ${ms(burst.latencyMs.p50)}, p99 ${ms(burst.latencyMs.p99)}`,
    ],
    ['of node:http', of(burst.acceptedPerSecond, 'node:http + JSON.parse, batches')],
    ['of Fastify + Ajv + SHA-256', of(burst.acceptedPerSecond, 'Fastify + Ajv + SHA-256, batches')],
    ['rated meanwhile', `${count(burst.ratedPerSecond)}/s`],
  ]);
  printTable('Batches of 500, sustained end to end', [
    ['accepted', `${count(sustained.acceptedPerSecond)}/s`],
    ['rated', `${count(sustained.ratedPerSecond)}/s`],
    ['queryable', `${count(sustained.queryablePerSecond)}/s`],
    [
      'all, drained',
      `${count(sustained.endToEndPerSecond)}/s`,
      'from the first request to the last queryable event',
    ],
    [
      'backlog growth',
      `${count(sustained.backlogGrowthPerSecond)} events/s`,
      'about 0: the pipeline keeps up',
    ],
    ['of Fastify + Ajv + SHA-256', of(sustained.queryablePerSecond, 'Fastify + Ajv + SHA-256, batches')],
    ['of PostgreSQL segment rows', of(sustained.queryablePerSecond, 'PostgreSQL segment rows')],
    ['of ClickHouse inserts', of(sustained.queryablePerSecond, 'ClickHouse inserts + rollups')],
  ]);
  printLoads(halfLoad, overload, sustained);
  resources({ idle, single, burst, sustained, halfLoad, overload });
  printTable('Afterwards', [
    ['tollgate verify', verify ? 'both stores equal' : 'THE STORES DIFFER'],
    ['SIGTERM', `exit ${stop.exitCode} after ${ms(stop.milliseconds)}`],
  ]);
}

function printLoads(halfLoad, overload, sustained) {
  printTable('At half that load', [
    ['accept to queryable', `p50 ${ms(halfLoad.delayMs.p50)}`, `p99 ${ms(halfLoad.delayMs.p99)}, counted`],
    [
      'accept to event list',
      `p50 ${ms(halfLoad.listDelayMs.p50)}`,
      `p99 ${ms(halfLoad.listDelayMs.p99)}, ${halfLoad.markers} markers`,
    ],
    ['accepted', `${count(halfLoad.acceptedPerSecond)}/s`, `batch p99 ${ms(halfLoad.latencyMs.p99)}`],
  ]);
  printTable('Past saturation', [
    [
      'answers',
      Object.entries(overload.statuses)
        .map(([status, number]) => `${count(number)} × ${status}`)
        .join(', '),
    ],
    [
      'rated while some is refused',
      `${count(overload.ratedPerSecond)}/s`,
      `${ratio(overload.ratedPerSecond, sustained.ratedPerSecond)} of sustained; at least 90 % is the aim`,
    ],
    ['processor time of a rated event', perEvent(overload), `${perEvent(sustained)} sustained`],
    ['greatest backlog', `${count(overload.backlogMax)} events`],
    ['drained after', `${overload.drainSeconds.toFixed(1)} s`],
  ]);
}

function resources(phases) {
  const rows = Object.entries(phases).map(([name, seen]) => [
    name,
    memory(seen.serviceRss),
    seen.serviceRss ? `${signed(seen.serviceRss.growthBytesPerMinute / MIB)} MiB/min` : '',
    memory(seen.postgresPss),
    cores(seen.serviceCpuShare),
    cores(seen.postgresCpuShare),
    ms(seen.eventLoopLagP99MsMax),
  ]);
  const head = [
    '',
    'service RSS',
    'growth',
    'PostgreSQL PSS',
    'service CPU',
    'PostgreSQL CPU',
    'event-loop lag p99, worst',
  ];
  printTable('Memory (first … greatest … last), processor, event loop', [head, ...rows]);
}

export function printTable(title, rows) {
  console.log(`\n${title}`);
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]));
    console.log(`  ${cells.join('  ').trimEnd()}`);
  }
}

function count(value) {
  return Math.round(value).toLocaleString('en-US');
}

function signed(value) {
  return `${value >= 0 ? '+' : ''}${value.toFixed(1)}`;
}

function ms(value) {
  return value === undefined || value === null ? '–' : `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}

function ratio(value, floor) {
  return floor === undefined ? '–' : `${((100 * value) / floor).toFixed(0)} %`;
}

function cores(share) {
  return share === undefined ? '–' : `${share.toFixed(2)} cores`;
}

/** CPU time of the service and PostgreSQL together; it can be compared on a busy machine too. */
function perEvent({ serviceCpuShare, postgresCpuShare, ratedPerSecond }) {
  if (serviceCpuShare === undefined) return '–';
  return `${((1e6 * (serviceCpuShare + postgresCpuShare)) / ratedPerSecond).toFixed(1)} µs`;
}

function memory(range) {
  if (range === undefined) return '–';
  const [first, greatest, last] = [range.firstBytes, range.greatestBytes, range.lastBytes].map((bytes) =>
    Math.round(bytes / MIB),
  );
  return `${first} … ${greatest} … ${last} MiB`;
}
