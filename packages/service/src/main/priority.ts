import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../platform/log/index.js';

/**
 * Nice value of everything that rates: when the processors are busy, accepting goes first. Accepted events are
 * safe and can wait; a client without a response cannot.
 */
export const RATING_NICENESS = 10;
/** Backtests are in no hurry: rating goes first. */
export const BACKTEST_NICENESS = 15;
const GROUP_ATTEMPTS = 10;
const GROUP_RETRY_MS = 110;
/** To the kernel, 0 names the calling thread. */
const THIS_THREAD = 0;

/**
 * Lets other threads go before the calling one. Only Linux gives each thread a priority of its own; elsewhere
 * this would slow the whole process and so does nothing.
 */
export function yieldThisThread(log: Logger, niceness = RATING_NICENESS): void {
  if (process.platform === 'linux') lower(THIS_THREAD, niceness, log);
}

/**
 * The same for the server processes behind a pool: possible where they run on this machine, under an account
 * we may govern.
 */
export function yieldServerProcesses(pool: pg.Pool, log: Logger): void {
  pool.on('connect', (client) => {
    const { processID } = client as pg.PoolClient & { readonly processID?: number };
    if (processID === undefined) return;
    lower(processID, RATING_NICENESS, log);
    if (process.platform === 'linux') lowerSession(processID).catch((error) => tellNotLowered(error, log));
  });
}

/**
 * PostgreSQL gives each of its processes a session of its own, and a kernel that groups processes by session
 * weighs a nice value only within its group: there, the group has to be nice. Without privileges, one such
 * change every tenth of a second is let through.
 */
async function lowerSession(id: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await writeFile(`/proc/${id}/autogroup`, String(RATING_NICENESS));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || attempt === GROUP_ATTEMPTS) throw error;
    }
    await delay(GROUP_RETRY_MS * attempt, undefined, { ref: false });
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
