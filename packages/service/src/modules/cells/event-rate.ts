import type { Postgres } from '../../platform/postgres/index.js';
import type { EventLoad } from './directory-store.js';
import { countEvents } from './registration-store.js';

/**
 * Measures how many events a second a cell rates. A tenant that moves here brings its count along, so a tenant counts
 * with its growth, from the first measurement that finds it on.
 */
export class EventRate {
  readonly #postgres: Pick<Postgres, 'db'>;
  readonly #nowMs: () => number;
  #before: { readonly atMs: number; readonly counts: ReadonlyMap<string, number> } | undefined;

  /** @param nowMs monotonic milliseconds */
  constructor(postgres: Pick<Postgres, 'db'>, nowMs: () => number = () => performance.now()) {
    this.#postgres = postgres;
    this.#nowMs = nowMs;
  }

  /** Returns the rate since the measurement before. */
  async measure(): Promise<EventLoad> {
    const before = this.#before;
    const atMs = this.#nowMs();
    const counts = await countEvents(this.#postgres);
    this.#before = { atMs, counts };
    let [total, grown] = [0, 0];
    for (const [tenantId, count] of counts) {
      total += count;
      grown += count - (before?.counts.get(tenantId) ?? count);
    }
    return { total, perSecond: before && (1_000 * Math.max(0, grown)) / (atMs - before.atMs) };
  }
}
