export interface FairQueueBounds {
  /** Upper bound for one owner; running work does not count. */
  readonly waitingPerOwnerMax: number;
  readonly waitingMax: number;
}

export interface Taken<Work> {
  readonly owner: string;
  readonly work: Work;
}

/**
 * Queues the work of many owners for a few places. Each owner has one piece of work running at a time, in the order of
 * arrival, and owners take turns. So an owner's work waits only behind its own work, and behind one piece of each other
 * waiting owner.
 */
export class FairQueue<Work> {
  readonly #bounds: FairQueueBounds;
  /** In the order of turns: the next owner first. */
  readonly #waiting = new Map<string, Work[]>();
  readonly #inHand = new Set<string>();
  #count = 0;

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds;
  }

  /** Number of waiting pieces of work. */
  get size(): number {
    return this.#count;
  }

  /** Returns false, and adds nothing, when the bounds are reached. */
  add(owner: string, work: Work): boolean {
    const line = this.#waiting.get(owner) ?? [];
    const { waitingPerOwnerMax, waitingMax } = this.#bounds;
    if (line.length >= waitingPerOwnerMax || this.#count >= waitingMax) return false;
    this.#waiting.set(owner, line);
    line.push(work);
    this.#count += 1;
    return true;
  }

  /** Returns the next work of the first owner without running work. Call `done` when it has ended. */
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

  /** Ends the owner's running work and moves the owner behind all others. Does nothing if the owner has none. */
  done(owner: string): void {
    if (!this.#inHand.delete(owner)) return;
    const line = this.#waiting.get(owner);
    if (line === undefined) return;
    this.#waiting.delete(owner);
    this.#waiting.set(owner, line);
  }

  /** Removes waiting work; returns false when it does not wait. */
  remove(owner: string, work: Work): boolean {
    const line = this.#waiting.get(owner) ?? [];
    const at = line.indexOf(work);
    if (at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#waiting.delete(owner);
    this.#count -= 1;
    return true;
  }

  /** Removes and returns all waiting work. */
  removeAll(): Work[] {
    const removed = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#count = 0;
    return removed;
  }
}
