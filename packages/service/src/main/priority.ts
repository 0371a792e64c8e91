import { setPriority } from 'node:os';
import type pg from 'pg';
import type { Logger } from '../platform/log/index.js';

/**
 * Nice value of everything that rates: when the processors are busy, accepting goes first. What is accepted is safe and can
 * wait; a client that is not answered cannot.
 */
const RATING_NICENESS = 10;
/** To the kernel, 0 names the calling thread. */
const THIS_THREAD = 0;

/**
 * Lets other threads go before the calling one. Only Linux gives each thread a priority of its own; elsewhere this would slow
 * the whole process and so does nothing.
 */
export function yieldThisThread(log: Logger): void {
  if (process.platform === 'linux') lower(THIS_THREAD, log);
}

/** The same for the server processes behind a pool: possible where they run on this machine, under an account we may govern. */
export function yieldServerProcesses(pool: pg.Pool, log: Logger): void {
  pool.on('connect', (client) => {
    const { processID } = client as pg.PoolClient & { readonly processID?: number };
    if (processID !== undefined) lower(processID, log);
  });
}

function lower(id: number, log: Logger): void {
  try {
    setPriority(id, RATING_NICENESS);
  } catch (error) {
    log.debug({ err: error }, 'the priority of rating could not be lowered');
  }
}
