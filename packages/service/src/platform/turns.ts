import { setImmediate as nextTurn } from 'node:timers/promises';

/** Upper bound of the time for which a thread works on one task, plus one piece of it, before others run. */
const TURN_MS_MAX = 4;

/** Turns of a thread, for work that comes in pieces. */
export class Turns {
  readonly #nowMs: () => number;
  readonly #rest: (turnMs: number) => Promise<void>;
  #startedMs: number;

  /** @param rest yields after a turn of so many milliseconds, for as long as others are due */
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

  /** As `isOver`, for callers that know the time. */
  isOverAt(nowMs: number): boolean {
    return nowMs - this.#startedMs >= TURN_MS_MAX;
  }

  /** Yields, and starts the next turn. */
  async pause(): Promise<void> {
    await this.#rest(this.#nowMs() - this.#startedMs);
    this.#startedMs = this.#nowMs();
  }
}
