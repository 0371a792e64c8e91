// The floors: what each ingredient alone can do on this machine, in the same run, so that the service's figures can be
// read as shares of them.
import { generateLoad, startFloor, stopFloor } from './processes.mjs';

export const CONNECTIONS = 64;
/** Batches keep the server busy with fewer connections; more only queue. */
export const BATCH_CONNECTIONS = 8;
/** Load before a rate is measured, so that a floor and the service are compared as they run, not as they start. */
export const WARM_UP_SECONDS = 3;

/** Measures every floor; returns events per second (and latencies of single requests) by name. */
export async function measureFloors(seconds) {
  const http = [
    ['node:http + JSON.parse', 'floors/bare-http.mjs', '/', '/'],
    ['Fastify + Ajv + SHA-256', 'floors/fastify.mjs', '/single', '/batch'],
  ];
  const floors = {};
  for (const [name, script, single, batch] of http) {
    floors[`${name}, single`] = await httpFloor(script, single, 'single', CONNECTIONS, seconds);
    floors[`${name}, batches`] = await httpFloor(script, batch, 'batch', BATCH_CONNECTIONS, seconds);
  }
  for (const [name, script] of [
    ['PostgreSQL segment rows', 'floors/postgres.mjs'],
    ['ClickHouse inserts + rollups', 'floors/clickhouse.mjs'],
  ]) {
    const { child, ready } = await startFloor(script, { seconds });
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
    floors[name] = ready;
  }
  return floors;
}

async function httpFloor(script, path, kind, connections, seconds) {
  const { child, ready } = await startFloor(script);
  const targets = [{ path, apiKey: 'none', ruleSetId: 'ers_00000000000000000000000000000000' }];
  const plan = { host: '127.0.0.1', port: ready.port, kind, targets, connections, seconds, runId: 'floor' };
  await generateLoad({ ...plan, seconds: WARM_UP_SECONDS });
  const result = await generateLoad(plan);
  await stopFloor(child);
  const otherStatuses = Object.keys(result.statuses).filter((status) => status !== '202');
  if (otherStatuses.length > 0) throw new Error(`${script} answered ${otherStatuses}`);
  return { eventsPerSecond: result.accepted / result.seconds, latencyMs: result.latencyMs };
}
