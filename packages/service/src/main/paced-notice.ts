/**
 * Passes notices on at most once in an interval: the first at once, and all that follow within the interval as one at
 * its end.
 */
export class PacedNotice {
  readonly #intervalMs: number;
  readonly #send: () => void;
  #quiet: NodeJS.Timeout | undefined;
  #isWaiting = false;

  constructor(intervalMs: number, send: () => void) {
    this.#intervalMs = intervalMs;
    this.#send = send;
  }

  notify(): void {
    if (this.#quiet !== undefined) {
      this.#isWaiting = true;
      return;
    }
    this.#send();
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      if (!this.#isWaiting) return;
      this.#isWaiting = false;
      this.notify();
    }, this.#intervalMs).unref();
  }

  /** Passes nothing more on of what was notified until now. */
  stop(): void {
    clearTimeout(this.#quiet);
  }
}
