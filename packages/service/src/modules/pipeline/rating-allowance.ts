/**
 * Milliseconds of this thread that the events of one tenant may take in a batch beyond what ordinary events
 * take: once to rate, and once to post and encode them.
 */
export const BATCH_ALLOWANCE_MS = 250;
/** The same for a turn of a tenant with deferred events. */
export const TURN_ALLOWANCE_MS = 100;
/** An event up to this duration is ordinary, and does not use up the allowance. */
const ORDINARY_EVENT_MS = 0.02;

/** The time that the events of one tenant have taken. */
export class TenantTime {
  #leftMs: number;

  constructor(allowanceMs: number) {
    this.#leftMs = allowanceMs;
  }

  /** Adds the duration of one more event. */
  add(eventMs: number): void {
    this.#leftMs -= eventMs - ORDINARY_EVENT_MS;
  }

  /** Whether further events must wait. False until an event was added, so that each turn rates at least one. */
  get isSpent(): boolean {
    return this.#leftMs <= 0;
  }
}

/** The thread time that each tenant of one batch takes. */
export class RatingAllowance {
  readonly #tenants = new Map<string, TenantTime>();

  constructor(private readonly tenantMs: number) {}

  of(tenantId: string): TenantTime {
    let time = this.#tenants.get(tenantId);
    if (time === undefined) {
      time = new TenantTime(this.tenantMs);
      this.#tenants.set(tenantId, time);
    }
    return time;
  }
}
