import { BoundedMap } from '../../kernel/bounded-map.js';

/** Events in the first turn of a tenant. Few, because slow ones would only be put back. */
const TURN_EVENTS_FIRST = 100;
/** Upper bound of the tenants whose pace is remembered; beyond it the oldest pace is dropped. */
const TENANTS_MAX = 10_000;

/** Chooses which tenant with deferred events has the next turn, and how many events it rates. */
export class DeferredTurns {
  readonly #batchEventsMax: number;
  /** The tenant that had the last turn. */
  after = '';
  readonly #eventsMax = new BoundedMap<string, number>(TENANTS_MAX);

  /** @param eventsMax upper bound for every turn */
  constructor(batchEventsMax: number) {
    this.#batchEventsMax = batchEventsMax;
  }

  eventsOf(tenantId: string): number {
    return this.#eventsMax.get(tenantId) ?? Math.min(TURN_EVENTS_FIRST, this.#batchEventsMax);
  }

  /**
   * Adjusts the size of the tenant's next turn: after a turn that ran out of time, the next one claims no more events
   * than this one rated.
   */
  learn(tenantId: string, counts: { readonly claimed: number; readonly deferred: number }): void {
    const rated = Math.max(1, counts.claimed - counts.deferred);
    const next = counts.deferred > 0 ? rated : Math.min(this.#batchEventsMax, this.eventsOf(tenantId) * 2);
    this.#eventsMax.set(tenantId, next);
  }
}
