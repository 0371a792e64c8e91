import { BoundedMap } from '../kernel/bounded-map.js';

/**
 * Caches the results of look-ups for a short time. Each key has one look-up in flight at a time. After half of its
 * lifetime, an entry that is still used is renewed in the background, so that requests for busy keys never wait.
 */
export interface FlightCacheOptions<T> {
  readonly lookUp: (key: string) => Promise<T>;
  /** Upper bound of a result's age, counted from the start of its look-up. */
  readonly ageMsMax: number;
  readonly entriesMax: number;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
}

interface Entry<T> {
  readonly value: T;
  readonly askedAtMs: number;
}

export class FlightCache<T> {
  readonly #entries: BoundedMap<string, Entry<T>>;
  readonly #flights = new Map<string, Promise<T>>();
  readonly #options: FlightCacheOptions<T>;
  #generation = 0;

  constructor(options: FlightCacheOptions<T>) {
    this.#options = options;
    this.#entries = new BoundedMap(options.entriesMax);
  }

  /** Whether the key was looked up recently; the result may have expired since. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Returns the cached value when it is fresh enough, otherwise a promise. Failures are not cached. */
  get(key: string): T | Promise<T> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#fly(key);
    const ageMs = this.#options.nowMs() - entry.askedAtMs;
    if (ageMs >= this.#options.ageMsMax) {
      this.#entries.delete(key);
      return this.#fly(key);
    }
    if (ageMs >= this.#options.ageMsMax / 2 && !this.#flights.has(key)) {
      // A failed renewal does not concern this caller: the entry simply expires, and the next caller gets the error.
      this.#fly(key).catch(() => {});
    }
    return entry.value;
  }

  /** Drops everything, including look-ups in flight. */
  clear(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#flights.clear();
  }

  #fly(key: string): Promise<T> {
    const running = this.#flights.get(key);
    if (running !== undefined) return running;
    const askedAtMs = this.#options.nowMs();
    const generation = this.#generation;
    const flight = this.#options
      .lookUp(key)
      .then((value) => {
        if (generation === this.#generation) this.#entries.set(key, { value, askedAtMs });
        return value;
      })
      .finally(() => {
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
      });
    this.#flights.set(key, flight);
    return flight;
  }
}
