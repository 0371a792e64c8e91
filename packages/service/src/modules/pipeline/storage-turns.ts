/** Where rows go: the number of a project that has tables of its own, or null for the shared tables. */
export type RowStorage = number | null;

/**
 * Takes turns between storages that have rows waiting, so that none waits for another's backlog. Each can be paused.
 */
export class StorageTurns {
  readonly #notBeforeMs = new Map<RowStorage, number>();
  #last = Number.NEGATIVE_INFINITY;

  /** Returns the storage whose turn it is among those that need not wait; undefined when all must. */
  next(waiting: readonly RowStorage[], nowMs: number): { readonly storage: RowStorage } | undefined {
    const due = waiting.filter((storage) => this.#waitMs(storage, nowMs) === 0);
    due.sort((a, b) => placeOf(a) - placeOf(b));
    const storage = due.find((candidate) => placeOf(candidate) > this.#last) ?? due[0];
    if (storage === undefined) return undefined;
    this.#last = placeOf(storage);
    return { storage };
  }

  /** Returns how long the first of them must still wait. */
  waitMs(waiting: readonly RowStorage[], nowMs: number): number {
    return Math.min(...waiting.map((storage) => this.#waitMs(storage, nowMs)));
  }

  pause(storage: RowStorage, untilMs: number): void {
    this.#notBeforeMs.set(storage, untilMs);
  }

  #waitMs(storage: RowStorage, nowMs: number): number {
    const waitMs = (this.#notBeforeMs.get(storage) ?? nowMs) - nowMs;
    if (waitMs > 0) return waitMs;
    this.#notBeforeMs.delete(storage);
    return 0;
  }
}

function placeOf(storage: RowStorage): number {
  return storage ?? -1;
}
