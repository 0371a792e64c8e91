// How much twenty analysis boards that are refreshed at once slow down ingest, on the service as it is shipped.
//
//     node bench/boards.mjs [boards=20] [every=5] [seconds=20] [rounds=2] [rate=500] [history=200000]
//
// First `history` events are brought in. Then single events come at `rate` a second, in turns alone and
// with `boards` boards of six charts, each refreshed every so many seconds, all at the same moment. Prints
// p50 and p99 of ingest, of the charts, and the ratio of ingest's p99; the aim is 2 at most. Needs a build,
// and the machine to itself.
import { ingestAtRate, makeHistory, refreshBoards } from './board-load.mjs';
import { readOptions } from './options.mjs';
import { quantile } from './quantile.mjs';
import { BenchService } from './service.mjs';

const options = readOptions({ boards: 20, every: 5, seconds: 20, rounds: 2, rate: 500, history: 200_000 });
const CONNECTIONS = 32;

const service = await BenchService.start();
try {
  const [project] = await service.createProjects(1);
  console.log(`${await makeHistory(service, project, options.history)} events of history`);
  const alone = [];
  const beside = [];
  for (let round = 0; round < options.rounds; round += 1) {
    alone.push(await ingest(project, `alone${round}`));
    const stop = new AbortController();
    const { boards, every: everySeconds } = options;
    const charts = refreshBoards(service, project, { boards, everySeconds, signal: stop.signal });
    beside.push(await ingest(project, `beside${round}`));
    stop.abort();
    report(`${options.boards} boards`, await charts);
  }
  console.log(`ingest's p99 beside the boards, to that alone: ${(least(beside) / least(alone)).toFixed(2)}`);
} finally {
  await service.stop();
  service.removeData();
}

/**
 * Single events at a fixed rate. The least p99 of the rounds separates the effect of the boards from that of other
 * programs on the machine.
 */
async function ingest(project, runId) {
  const plan = {
    connections: CONNECTIONS,
    seconds: options.seconds,
    eventsPerSecond: options.rate,
    runId,
  };
  const { latencyMs, statuses } = await ingestAtRate(service, project, plan);
  const { p50, p99 } = latencyMs;
  console.log(
    `  ingest, ${runId}: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${JSON.stringify(statuses)}`,
  );
  return p99;
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
