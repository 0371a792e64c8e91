import type { StartTimer } from '../platform/threads/index.js';

interface TestTimer {
  readonly ms: number;
  readonly end: () => void;
}

/** Timers of jobs that end when the test wants, however busy the machine is. */
export class TestTimers {
  /** All that were started, in that order. */
  readonly started: TestTimer[] = [];
  readonly #running = new Set<TestTimer>();

  readonly start: StartTimer = (end, ms) => {
    const timer = { ms, end };
    this.started.push(timer);
    this.#running.add(timer);
    return () => this.#running.delete(timer);
  };

  /** Number of those that are not stopped. */
  get runningCount(): number {
    return this.#running.size;
  }
}
