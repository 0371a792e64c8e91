import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type pg from 'pg';
import type { Logger } from '../platform/log/index.js';

/**
 * Nice value of everything that rates and keeps history: when the processors are busy, accepting goes first. What is accepted is safe and can
 * wait; a client that is not answered cannot.
 */
const NICENESS = 10;
const THREADS_FOLDER = '/proc/self/task';
const ENGINE_THREADS_INTERVAL_MS = 1_000;
/** The name of a thread that is no more. */
const ENDED = '';
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

/**
 * The same for the threads of the embedded ClickHouse: they are those of this process that have a name which no thread had when
 * this was called. It makes them as it needs them, so they are looked for again and again until the answer is called.
 */
export function yieldEngineThreads(log: Logger): () => void {
  if (process.platform !== 'linux') return () => {};
  const ours = new Set(threadIds().map(threadName)).add(ENDED);
  const lowered = new Set<number>();
  const timer = setInterval(() => {
    for (const id of threadIds()) {
      if (lowered.has(id) || ours.has(threadName(id))) continue;
      lowered.add(id);
      lower(id, log);
    }
  }, ENGINE_THREADS_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function threadIds(): number[] {
  return readdirSync(THREADS_FOLDER).map(Number);
}

function threadName(id: number): string {
  try {
    return readFileSync(`${THREADS_FOLDER}/${id}/comm`, 'latin1').trim();
  } catch {
    return ENDED;
  }
}

function lower(id: number, log: Logger): void {
  try {
    setPriority(id, NICENESS);
  } catch (error) {
    log.debug({ err: error }, 'the priority of rating could not be lowered');
  }
}
