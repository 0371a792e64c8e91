// How long accepted events take until they are queryable, by counting: how many were accepted when, and when
// the service had copied so many into ClickHouse. When events overtake each other, some are counted for others.
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Greatest error of a delay, always upwards, without the time of one look. A look takes some 6 ms of processor
 * time.
 */
const LOOK_EVERY_MS = 100;
const WAIT_MAX_MS = 60_000;

export class CountedLag {
  #accepted = [];
  #looks = [];
  #isOver = false;
  #done;

  constructor(service) {
    this.service = service;
    this.#done = this.#look();
    // When the load fails, nobody reads the delays any more.
    this.#done.catch(() => {});
  }

  /**
   * Call it after each progress.
   *
   * @param events accepted so far, over all phases
   */
  accepted(events) {
    this.#accepted.push({ atMs: performance.now(), events });
  }

  /**
   * Waits for all accepted events.
   *
   * @returns for each progress, how long its last event took, in milliseconds
   */
  async stop() {
    this.#isOver = true;
    await this.#done;
    return this.#accepted.map(({ atMs, events }) => {
      const seen = this.#looks.find(({ queryable }) => queryable >= events);
      return Math.max(0, seen.atMs - atMs);
    });
  }

  async #look() {
    while (!this.#isOver || !this.#isDrained()) {
      this.#looks.push(await this.service.counters());
      const waitedMs = performance.now() - (this.#accepted.at(-1)?.atMs ?? Number.POSITIVE_INFINITY);
      if (waitedMs > WAIT_MAX_MS) throw new Error(`accepted events were not queryable after ${waitedMs} ms`);
      await delay(LOOK_EVERY_MS);
    }
  }

  #isDrained() {
    const last = this.#accepted.at(-1);
    return last === undefined || this.#looks.at(-1)?.queryable >= last.events;
  }
}
