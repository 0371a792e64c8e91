/**
 * Pieces of work that take some milliseconds, one step in each turn of the event loop. So a request that arrives
 * meanwhile waits for one step at most.
 */
export class SpacedWork {
  readonly #waiting: Generator<void, void>[] = [];

  /** Adds a piece, whose steps must not throw. Pieces are done one after the other, as they were added. */
  add(steps: Generator<void, void>): void {
    this.#waiting.push(steps);
    if (this.#waiting.length === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const [steps] = this.#waiting;
    if (steps?.next().done === true) this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };
}

/** Does all steps of a piece of work now. */
export function doAtOnce(steps: Generator<void, void>): void {
  while (steps.next().done !== true);
}
