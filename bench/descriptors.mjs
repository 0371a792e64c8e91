// Counts the file descriptors of the service while twenty boards are refreshed at once, under the limit of many
// systems.
//
//     node bench/descriptors.mjs [limit=1024] [boards=20] [every=2] [minutes=10] [rate=500] [history=200000]
//
// The service starts with a limit of `limit` descriptors, and ingests `history` events. Then `rate` single events
// arrive a second, and all six charts of `boards` boards are requested at once, every `every` seconds or as soon as
// the last round ends. Prints the descriptors and threads each minute and at the end. Fails if an event or a chart
// was refused. Needs a build, and Linux with `prlimit`.
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ingestAtRate, makeHistory, refreshBoards } from './board-load.mjs';
import { readOptions } from './options.mjs';
import { quantile } from './quantile.mjs';
import { BenchService } from './service.mjs';

const options = readOptions({ limit: 1_024, boards: 20, every: 2, minutes: 10, rate: 500, history: 200_000 });
const CONNECTIONS = 32;
/** Files that a merge or a query opens are closed within a fraction of a second. */
const SAMPLE_MS = 250;
const SECONDS_PER_MINUTE = 60;
const SAMPLES_PER_MINUTE = (SECONDS_PER_MINUTE * 1_000) / SAMPLE_MS;

const service = await BenchService.start({ descriptorsMax: options.limit });
try {
  const samples = [];
  print('at start', look());
  const [project] = await service.createProjects(1);
  console.log(`${await makeHistory(service, project, options.history)} events of history`);
  print('then', look());
  const stop = new AbortController();
  const sampling = sample(samples, stop.signal);
  const { boards, every: everySeconds, rate, minutes } = options;
  const charts = refreshBoards(service, project, { boards, everySeconds, signal: stop.signal });
  const plan = {
    connections: CONNECTIONS,
    seconds: minutes * SECONDS_PER_MINUTE,
    eventsPerSecond: rate,
    runId: 'boards',
  };
  // A chart that is refused ends the measurement.
  const ingest = await Promise.race([ingestAtRate(service, project, plan), charts]);
  stop.abort();
  await sampling;
  report(await charts, ingest, samples);
} finally {
  await service.stop();
  service.removeData();
}

async function sample(samples, signal) {
  while (!signal.aborted) {
    samples.push(look());
    if (samples.length % SAMPLES_PER_MINUTE === 0) {
      print(
        `minute ${samples.length / SAMPLES_PER_MINUTE}, at most`,
        greatest(samples.slice(-SAMPLES_PER_MINUTE)),
      );
    }
    await delay(SAMPLE_MS, undefined, { signal }).catch(() => {});
  }
}

/** Descriptors of the service, those of them that ClickHouse keeps on its threads, and threads. */
function look() {
  const folder = `/proc/${service.pid}`;
  const descriptors = readdirSync(`${folder}/fd`);
  return {
    descriptors: descriptors.length,
    ofThreads: descriptors.filter((descriptor) => isOfThread(`${folder}/fd/${descriptor}`)).length,
    threads: readdirSync(`${folder}/task`).length,
  };
}

function isOfThread(link) {
  try {
    return readlinkSync(link).includes('/task/');
  } catch {
    return false; // closed meanwhile
  }
}

/** The greatest of each number. */
function greatest(samples) {
  const of = (pick) => Math.max(...samples.map(pick));
  return {
    descriptors: of((sample) => sample.descriptors),
    ofThreads: of((sample) => sample.ofThreads),
    threads: of((sample) => sample.threads),
  };
}

function print(moment, { descriptors, ofThreads, threads }) {
  console.log(`  ${moment}: ${descriptors} descriptors, ${ofThreads} of them on threads; ${threads} threads`);
}

function report(timesMs, { latencyMs, statuses, failures }, samples) {
  timesMs.sort((a, b) => a - b);
  const at = (share) => quantile(timesMs, share).toFixed(0);
  const ms = (value) => value.toFixed(1);
  console.log(
    `${timesMs.length} charts, none refused: p50 ${at(0.5)}, p99 ${at(0.99)} ms, waiting for each other`,
  );
  console.log(
    `ingest: p50 ${ms(latencyMs.p50)}, p99 ${ms(latencyMs.p99)} ms, ${JSON.stringify(statuses)}, ${failures} unanswered`,
  );
  print(`at most, of ${options.limit}`, greatest(samples));
  if (failures > 0 || Object.keys(statuses).some((status) => status !== '202')) process.exitCode = 1;
}
