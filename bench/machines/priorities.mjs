// Priorities: everything that rates is nice, so that accepting goes first. Off: nothing is.
import { readdirSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { BATCH_CONNECTIONS } from '../floors.mjs';
import { descendantsOf } from '../processes.mjs';
import { inTurns, LoadedServices } from './measure.mjs';

/** See platform/clickhouse/merge-threads.ts. */
const MERGE_NICENESS = 19;
/** A longer burst fills the backlog of events to rate, and then it measures refusals. */
const BURST_S = 2;

/**
 * Batches as fast as they are answered, while everything that rates is nice, and while nothing is.
 * @returns the median response time of a batch in ms; undefined where priorities cannot be raised again
 */
export async function measurePriorities(rounds) {
  const services = new LoadedServices();
  const burst =
    ({ service, projects, load }, adjust) =>
    async () => {
      adjust(service.pid);
      const plan = { kind: 'batch', connections: BATCH_CONNECTIONS, seconds: BURST_S };
      const { latencyMs } = await load.send(projects, plan);
      await load.drain();
      return latencyMs.p50;
    };
  try {
    const loaded = await services.start();
    return await inTurns({ on: burst(loaded, restore), off: burst(loaded, raise) }, rounds);
  } catch (error) {
    if (error.info?.code === 'EACCES' || error.info?.code === 'EPERM') return undefined;
    throw error;
  } finally {
    await services.stop();
  }
}

/** Threads of the service and processes of PostgreSQL that were raised, with how nice they were. */
const raised = new Map();

/** Lets none be nice. The threads of merges, which yield to everything, stay as they are. */
function raise(pid) {
  const servers = new Set(descendantsOf(pid));
  for (const id of [...readdirSync(`/proc/${pid}/task`).map(Number), ...servers]) {
    const nice = unlessEnded(() => getPriority(id));
    if (nice === undefined || nice <= 0 || nice >= MERGE_NICENESS) continue;
    raised.set(id, { nice, isServer: servers.has(id) });
    setNiceness(id, 0, servers.has(id));
  }
}

function restore() {
  for (const [id, { nice, isServer }] of raised) setNiceness(id, nice, isServer);
  raised.clear();
}

function setNiceness(id, nice, isServer) {
  unlessEnded(() => setPriority(id, nice));
  if (!isServer) return;
  try {
    // PostgreSQL's processes have sessions of their own; see main/priority.ts.
    writeFileSync(`/proc/${id}/autogroup`, String(nice));
  } catch {
    // It has ended, or the kernel makes no groups.
  }
}

/** Connections to PostgreSQL that are idle end, and their processes with them. */
function unlessEnded(act) {
  try {
    return act();
  } catch (error) {
    if (error.info?.code === 'ESRCH') return undefined;
    throw error;
  }
}
