/**
 * Runs a bounded number of works at once, and one of each owner: what one owner has waiting delays others no longer
 * than the work that runs.
 */
export class FairTurns {
  readonly #runningMax: number;
  /** Owners take turns in the order in which they came to wait. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  readonly #busy = new Set<string>();

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  /** Runs `work` when it is its turn; returns or throws as `work` does. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = this.#waiting.get(owner) ?? [];
      waiting.push(() => work().then(resolve, reject));
      this.#waiting.set(owner, waiting);
      this.#begin();
    });
  }

  #begin(): void {
    for (const [owner, waiting] of this.#waiting) {
      if (this.#busy.size >= this.#runningMax) return;
      if (this.#busy.has(owner)) continue;
      const work = waiting.shift();
      this.#waiting.delete(owner);
      if (work === undefined) continue;
      // At the end of the line again.
      if (waiting.length > 0) this.#waiting.set(owner, waiting);
      this.#busy.add(owner);
      void work().finally(() => {
        this.#busy.delete(owner);
        this.#begin();
      });
    }
  }
}
