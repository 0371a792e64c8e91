import { setImmediate as nextTurn } from 'node:timers/promises';

/** A thread that serves many works on one of them no longer than this, and a piece, without letting the others pass. */
const TURN_MS_MAX = 4;

/** Turns of a thread, for work that comes in pieces. */
export class Turns {
  readonly #nowMs: () => number;
  readonly #rest: (turnMs: number) => Promise<void>;
  #startedMs: number;

  /** @param rest gives the thread back after a turn of so many milliseconds, for as long as is due to others */
  constructor(
    nowMs: () => number = () => performance.now(),
    rest: (turnMs: number) => Promise<void> = () => nextTurn(),
  ) {
    this.#nowMs = nowMs;
    this.#rest = rest;
    this.#startedMs = nowMs();
  }

  /** Whether it is time to pause. */
  get isOver(): boolean {
    return this.isOverAt(this.#nowMs());
  }

  /** Like `isOver`, for callers that know the time. */
  isOverAt(nowMs: number): boolean {
    return nowMs - this.#startedMs >= TURN_MS_MAX;
  }

  /** Gives the thread back, and begins the next turn. */
  async pause(): Promise<void> {
    await this.#rest(this.#nowMs() - this.#startedMs);
    this.#startedMs = this.#nowMs();
  }
}
