import type { ThreadTime } from '../../platform/thread-time.js';

/** For shorter work the wait time of the thread is not read, because waits last longer. */
const LONG_PIECE_MS = 0.5;

/**
 * Measures the thread time of pieces of work. Rating has a lower priority than accepting events: measured by the clock,
 * ordinary events would count as slow on a busy machine, and be deferred.
 */
export class WorkTimer {
  #atMs = 0;
  #waitedMs = 0;

  constructor(private readonly thread: ThreadTime) {
    this.resume();
  }

  /** When the last piece ended. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Starts a piece of work, after other work had the thread. */
  resume(): void {
    this.#waitedMs = this.thread.waitedMs();
    this.start();
  }

  /** Starts a piece of work. */
  start(): void {
    this.#atMs = this.thread.nowMs();
  }

  /** Ends a piece of work and starts the next one. @returns milliseconds of thread time */
  lapMs(): number {
    const nowMs = this.thread.nowMs();
    const lastedMs = nowMs - this.#atMs;
    this.#atMs = nowMs;
    if (lastedMs < LONG_PIECE_MS) return lastedMs;
    const waitedMs = this.thread.waitedMs();
    const tookMs = lastedMs - (waitedMs - this.#waitedMs);
    this.#waitedMs = waitedMs;
    return Math.max(0, tookMs);
  }
}
