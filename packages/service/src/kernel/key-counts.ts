/** Counts by key; a key with none takes no memory. */
export class KeyCounts {
  readonly #counts = new Map<string, number>();

  /** All counts that are not 0. */
  get all(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, change: number): void {
    const count = this.of(key) + change;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
