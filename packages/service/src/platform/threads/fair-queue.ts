export interface FairQueueBounds {
  /** For one owner; work in hand does not count. */
  readonly waitingPerOwnerMax: number;
  readonly waitingMax: number;
}

export interface Taken<Work> {
  readonly owner: string;
  readonly work: Work;
}

/**
 * Work of many owners that waits for a few places. An owner has one piece of work in hand at a time, in the
 * order in which it came; owners take turns. So the work of an owner waits behind its own, and behind one
 * piece of each other owner that waits.
 */
export class FairQueue<Work> {
  readonly #bounds: FairQueueBounds;
  /** The owner whose turn comes next stands first. */
  readonly #waiting = new Map<string, Work[]>();
  readonly #inHand = new Set<string>();
  #count = 0;

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds;
  }

  /** How much waits. */
  get size(): number {
    return this.#count;
  }

  /** Returns false, and adds nothing, when as much waits as may wait. */
  add(owner: string, work: Work): boolean {
    const line = this.#waiting.get(owner) ?? [];
    const { waitingPerOwnerMax, waitingMax } = this.#bounds;
    if (line.length >= waitingPerOwnerMax || this.#count >= waitingMax) return false;
    this.#waiting.set(owner, line);
    line.push(work);
    this.#count += 1;
    return true;
  }

  /** The next work of the first owner that has none in hand. Call `done` once it is. */
  take(): Taken<Work> | undefined {
    for (const [owner, line] of this.#waiting) {
      const [work] = line;
      if (work === undefined || this.#inHand.has(owner)) continue;
      this.remove(owner, work);
      this.#inHand.add(owner);
      return { owner, work };
    }
    return undefined;
  }

  /**
   * Ends the owner's work in hand and moves the owner behind all others. Does nothing if the owner has none in hand.
   */
  done(owner: string): void {
    if (!this.#inHand.delete(owner)) return;
    const line = this.#waiting.get(owner);
    if (line === undefined) return;
    this.#waiting.delete(owner);
    this.#waiting.set(owner, line);
  }

  /** Takes out what waits no longer; false when it does not wait. */
  remove(owner: string, work: Work): boolean {
    const line = this.#waiting.get(owner) ?? [];
    const at = line.indexOf(work);
    if (at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#waiting.delete(owner);
    this.#count -= 1;
    return true;
  }

  /** Takes out all that waits. */
  removeAll(): Work[] {
    const removed = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#count = 0;
    return removed;
  }
}
