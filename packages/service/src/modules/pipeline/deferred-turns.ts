import { BoundedMap } from '../../kernel/bounded-map.js';

/** Events in the first turn of a tenant; few, because slow ones would only be put back. */
const TURN_EVENTS_FIRST = 100;
/** Upper bound of the tenants whose pace is remembered; past it the oldest pace is reset. */
const TENANTS_MAX = 10_000;

/** The turns of tenants with deferred events, and the number of events of each in a turn. */
export class DeferredTurns {
  /** The tenant whose turn was the last. */
  after = '';
  readonly #eventsMax = new BoundedMap<string, number>(TENANTS_MAX);

  /** @param eventsMax of any batch */
  constructor(private readonly eventsMax: number) {}

  eventsOf(tenantId: string): number {
    return this.#eventsMax.get(tenantId) ?? Math.min(TURN_EVENTS_FIRST, this.eventsMax);
  }

  /** Adjusts to a turn: after one whose allowance ran out, the next claims no more than it rated. */
  learn(tenantId: string, counts: { readonly claimed: number; readonly deferred: number }): void {
    const rated = Math.max(1, counts.claimed - counts.deferred);
    const next = counts.deferred > 0 ? rated : Math.min(this.eventsMax, this.eventsOf(tenantId) * 2);
    this.#eventsMax.set(tenantId, next);
  }
}
