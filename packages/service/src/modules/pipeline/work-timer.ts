import type { ThreadTime } from '../../platform/thread-time.js';

/** For a shorter piece nobody asks whether the thread waited meanwhile: where it does, it does so for longer. */
const LONG_PIECE_MS = 0.5;

/**
 * Measures what pieces of work take of a thread. A rating thread goes behind all that accepts events: by the clock alone ordinary
 * events were slow on a busy machine, and were deferred.
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

  /** A piece begins, after others had the thread. */
  resume(): void {
    this.#waitedMs = this.thread.waitedMs();
    this.start();
  }

  /** A piece begins. */
  start(): void {
    this.#atMs = this.thread.nowMs();
  }

  /** Ends a piece, and begins the next one. @returns milliseconds that it took of the thread */
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
