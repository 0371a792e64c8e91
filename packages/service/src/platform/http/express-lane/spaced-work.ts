/**
 * Pieces of work that take some milliseconds, one in each turn of the event loop. So a request that arrives meanwhile
 * waits for one piece at most.
 */
export class SpacedWork {
  readonly #waiting: (() => void)[] = [];

  /** Adds a piece, which must not throw. Pieces are done in the order in which they were added. */
  add(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const work = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#next);
    work?.();
  };
}
