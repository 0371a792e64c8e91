// Processor time of an event from request to history, and the express lane: it reads plain requests from the socket.
// Off: by Node's HTTP server and Fastify.
import { BATCH_CONNECTIONS, CONNECTIONS } from '../floors.mjs';
import { inTurns, LoadedServices } from './measure.mjs';
import { PAYLOADS, USUAL } from './payloads.mjs';

/** Half of what a slow machine can rate, so that no backlog is refused. */
const EVENTS_PER_SECOND_MAX = 10_000;
const BYTES_PER_SECOND_MAX = 20 * 1_048_576;

/** @returns µs of processor time per event: of each payload in batches, with limits, and alone over both ways */
export async function measureServices(rounds, seconds) {
  const services = new LoadedServices();
  try {
    const express = await services.start({ TOLLGATE_EXPRESS_LANE: '1' });
    const plain = await services.start({ TOLLGATE_EXPRESS_LANE: '0' });
    const lane = { on: () => singleEvents(express, seconds), off: () => singleEvents(plain, seconds) };
    return {
      endToEnd: await inTurns(endToEndWays(express, seconds), rounds),
      expressLane: await inTurns(lane, rounds),
    };
  } finally {
    await services.stop();
  }
}

function endToEndWays({ load, projects, limited }, seconds) {
  const batches = async (targets, payload) => {
    const eventsPerSecond = Math.min(EVENTS_PER_SECOND_MAX, BYTES_PER_SECOND_MAX / payload.bytes);
    const plan = { kind: 'batch', connections: BATCH_CONNECTIONS, seconds, payload, eventsPerSecond };
    return (await load.run(targets, plan)).cpuPerEvent;
  };
  const ways = Object.entries(PAYLOADS).map(([name, payload]) => [name, () => batches(projects, payload)]);
  return Object.fromEntries([...ways, ['with limits', () => batches([limited], PAYLOADS[USUAL])]]);
}

async function singleEvents({ load, projects }, seconds) {
  const { cpuPerEvent } = await load.run(projects, { kind: 'single', connections: CONNECTIONS, seconds });
  return cpuPerEvent;
}
