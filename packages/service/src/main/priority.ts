import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Logger } from '../platform/log/index.js';

/**
 * Nice value of all rating threads: when the processors are busy, accepting goes first. Accepted events are safe and
 * can wait; a client without a response cannot.
 */
export const RATING_NICENESS = 10;
/** Nice value of work on past usage, backtests and corrections: it is not urgent, and new usage goes first. */
export const PAST_USAGE_NICENESS = 15;
/** To the kernel, 0 names the calling thread. */
const THIS_THREAD = 0;
const OWN_THREADS = '/proc/self/task';

/**
 * Lowers the priority of the calling thread. Only Linux has a priority for each thread; elsewhere this would slow down
 * the whole process, so it does nothing.
 */
export function yieldThisThread(log: Logger, niceness = RATING_NICENESS): void {
  if (process.platform === 'linux') lower(THIS_THREAD, niceness, log);
}

/**
 * Lowers the priority of all threads of this process that have the one of its main thread: helpers of V8 and of Node,
 * and ClickHouse. The main thread serves all requests; a request needs it for less than a millisecond, and would wait
 * until several helpers have had their turns on a processor. A thread inherits the priority of the one that starts it,
 * so one call is enough, once the stores are open.
 */
export function yieldHelperThreads(log: Logger): void {
  if (process.platform !== 'linux') return;
  try {
    const own = getPriority(process.pid);
    if (own >= RATING_NICENESS) return;
    for (const id of readdirSync(OWN_THREADS).map(Number)) {
      if (id !== process.pid && nicenessOf(id) === own) lower(id, RATING_NICENESS, log);
    }
  } catch (error) {
    tellNotLowered(error, log);
  }
}

/** Returns undefined for a thread that has ended. */
function nicenessOf(id: number): number | undefined {
  try {
    return getPriority(id);
  } catch {
    return undefined;
  }
}

function lower(id: number, niceness: number, log: Logger): void {
  try {
    setPriority(id, niceness);
  } catch (error) {
    tellNotLowered(error, log);
  }
}

function tellNotLowered(err: unknown, log: Logger): void {
  log.debug({ err }, 'the priority of background work could not be lowered');
}
