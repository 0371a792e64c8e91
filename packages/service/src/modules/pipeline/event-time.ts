import type { ThreadTime } from '../../platform/thread-time.js';
import type { Turns } from '../../platform/turns.js';

/**
 * Milliseconds of this thread that the events of one tenant may take in a batch, in addition to ordinary events: once
 * for rating, and once for posting and encoding.
 */
export const BATCH_ALLOWANCE_MS = 250;
/** The same for a turn of a tenant with deferred events. */
export const TURN_ALLOWANCE_MS = 100;
/** An event up to this duration is ordinary, and does not use up the allowance. */
const ORDINARY_EVENT_MS = 0.02;
/** For work shorter than this, the wait time of the thread is not read, because waits last longer. */
const LONG_PIECE_MS = 0.5;

export interface EventTimeOptions {
  /** Yields during slow rules, so that other batches continue and sockets are served. */
  readonly turns: Turns;
  /** Milliseconds of thread time that the events of each tenant may take, in addition to ordinary ones. */
  readonly tenantMs: number;
  /** Tenants that have used up their time in this batch or a concurrent one; the rest of their events is deferred. */
  readonly slowTenants: Set<string>;
  /** Measures the time that events take. */
  readonly thread: ThreadTime;
}

/** The thread time that the events of one batch take in one stage, tenant by tenant. */
export class StageTime {
  readonly #options: EventTimeOptions;
  readonly #tenants = new Map<string, TenantTime>();
  readonly #timer: WorkTimer;

  constructor(options: EventTimeOptions) {
    this.#options = options;
    this.#timer = new WorkTimer(options.thread);
  }

  of(tenantId: string): TenantTime {
    let time = this.#tenants.get(tenantId);
    if (time === undefined) {
      time = new TenantTime(tenantId, this.#options.tenantMs);
      this.#tenants.set(tenantId, time);
    }
    return time;
  }

  /** Starts a slice of events, after other work used the thread. */
  resume(): void {
    this.#timer.resume();
  }

  /** Starts an event, after a short wait for its rules. */
  start(): void {
    this.#timer.start();
  }

  /**
   * Ends an event, and starts the next.
   *
   * @returns whether it is time to pause
   */
  end(time: TenantTime): boolean {
    time.add(this.#timer.lapMs());
    if (time.isSpent) this.#options.slowTenants.add(time.tenantId);
    return this.#options.turns.isOverAt(this.#timer.atMs);
  }

  /** Ends the time of a tenant: the rest of its events is deferred, also in concurrent batches. */
  spend(time: TenantTime): void {
    time.add(Number.POSITIVE_INFINITY);
    this.#options.slowTenants.add(time.tenantId);
  }

  /** Lets other work run for a moment. */
  async pause(): Promise<void> {
    await this.#options.turns.pause();
    this.#timer.resume();
  }
}

/** The time that the events of one tenant have taken. */
export class TenantTime {
  #leftMs: number;

  constructor(
    readonly tenantId: string,
    allowanceMs: number,
  ) {
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

/**
 * Measures the thread time of pieces of work. Rating has a lower priority than accepting events: by the clock, ordinary
 * events would count as slow on a busy machine, and be deferred.
 */
export class WorkTimer {
  readonly #thread: ThreadTime;
  #atMs = 0;
  #waitedMs = 0;

  constructor(thread: ThreadTime) {
    this.#thread = thread;
    this.resume();
  }

  /** When the last piece ended. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Starts a piece of work, after other work used the thread. */
  resume(): void {
    this.#waitedMs = this.#thread.waitedMs();
    this.start();
  }

  /** Starts a piece of work. */
  start(): void {
    this.#atMs = this.#thread.nowMs();
  }

  /**
   * Ends a piece of work and starts the next one.
   *
   * @returns milliseconds of thread time
   */
  lapMs(): number {
    const nowMs = this.#thread.nowMs();
    const lastedMs = nowMs - this.#atMs;
    this.#atMs = nowMs;
    if (lastedMs < LONG_PIECE_MS) return lastedMs;
    const waitedMs = this.#thread.waitedMs();
    const tookMs = lastedMs - (waitedMs - this.#waitedMs);
    this.#waitedMs = waitedMs;
    return Math.max(0, tookMs);
  }
}
