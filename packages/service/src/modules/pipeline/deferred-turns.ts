/** A turn of a tenant that was not seen before claims so many events: slow ones would be put back in vain. */
const TURN_EVENTS_FIRST = 100;
/** Upper bound of the tenants whose pace is remembered; past it all paces are reset. */
const TENANTS_MAX = 10_000;

/** The turns of tenants with deferred events, and the number of events of each in a turn. */
export class DeferredTurns {
  /** The tenant whose turn was the last. */
  after = '';
  readonly #eventsMax = new Map<string, number>();

  /** @param eventsMax of any batch */
  constructor(private readonly eventsMax: number) {}

  eventsOf(tenantId: string): number {
    return this.#eventsMax.get(tenantId) ?? Math.min(TURN_EVENTS_FIRST, this.eventsMax);
  }

  /** Learns from a turn: one whose allowance ran out claims no more next time than it has rated. */
  learn(tenantId: string, counts: { readonly claimed: number; readonly deferred: number }): void {
    const rated = Math.max(1, counts.claimed - counts.deferred);
    const next = counts.deferred > 0 ? rated : Math.min(this.eventsMax, this.eventsOf(tenantId) * 2);
    if (this.#eventsMax.size >= TENANTS_MAX) this.#eventsMax.clear();
    this.#eventsMax.set(tenantId, next);
  }
}
