import { DomainError } from '../../kernel/errors.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import type { Backlog, BacklogSize, SegmentQueue } from '../../platform/queue/index.js';
import { Wakeup } from '../../platform/wakeup.js';

const BACKLOG_EVENTS_MAX_DEFAULT = 2_000_000;
const BACKLOG_BYTES_MAX_DEFAULT = 4 * 1_024 ** 3;
/** Bounds the cost of measuring: under light load a segment may contain a single event. */
export const BACKLOG_SEGMENTS_MAX = 200_000;
const BACKLOG_REFRESH_INTERVAL_MS = 250;
/** The same while nothing waits and no request comes: then only the metrics need the size of the queue. */
const RESTING_INTERVAL_MS = 2_000;
const RETRY_AFTER_S = 5;
/** The part of a tenant's share that events to be rated again may fill. */
const REPROCESS_PART = 1 / 2;
const OVER_SHARE_MESSAGE =
  "The tenant's share of the usage queue is full; nothing was accepted. Try again later.";

/** Repeats a task until stopped. Injected, so that tests control time. */
export interface Scheduler {
  /**
   * Runs `task` now, and again after each run: when the milliseconds that it returned have passed, or when `wakeup` is
   * notified. The returned function stops it.
   */
  every(task: () => Promise<number>, wakeup: Wakeup): () => void;
}

export const timerScheduler: Scheduler = {
  every(task, wakeup) {
    const stopped = new AbortController();
    const run = async () => {
      while (!stopped.signal.aborted) await wakeup.wait(await task(), stopped.signal);
    };
    void run();
    return () => stopped.abort();
  },
};

export interface BacklogGateOptions {
  readonly queue: Pick<SegmentQueue<never>, 'backlog' | 'tenantsHolding'>;
  readonly scheduler: Scheduler;
  readonly eventsMax?: number;
  readonly bytesMax?: number;
}

const NOBODY: ReadonlySet<string> = new Set();

/**
 * Refuses new events while the workers are too far behind. While the queue fills up, tenants that hold more than their
 * share of the backlog are refused first, so that one heavy tenant does not affect the others; when the queue is full,
 * all are refused.
 */
export class BacklogGate {
  readonly #options: BacklogGateOptions;
  readonly #max: BacklogSize;
  #latest: Backlog = {
    segments: 0,
    events: 0,
    bytes: 0,
    deferredEvents: 0,
    oldestReceivedAtMs: undefined,
  };
  #overShare = NOBODY;
  /** Whether a request came since the last measurement began. */
  #isAsked = false;
  #isResting = false;
  readonly #wakeup = new Wakeup();
  readonly #stopRefreshing: () => void;

  constructor(options: BacklogGateOptions) {
    this.#options = options;
    this.#max = {
      events: options.eventsMax ?? BACKLOG_EVENTS_MAX_DEFAULT,
      bytes: options.bytesMax ?? BACKLOG_BYTES_MAX_DEFAULT,
      segments: BACKLOG_SEGMENTS_MAX,
    };
    this.#stopRefreshing = options.scheduler.every(() => this.#refresh(), this.#wakeup);
  }

  /** The queue of all nodes together, as last measured. */
  get backlog(): Backlog {
    return this.#latest;
  }

  /** @throws DomainError `ingest_backlog_full`. */
  check(tenantId: string): void {
    this.#isAsked = true;
    if (this.#isResting) {
      this.#isResting = false;
      this.#wakeup.notify();
    }
    if (!isBelow(this.#latest, this.#max)) {
      throw new DomainError('ingest_backlog_full', { retryAfterS: RETRY_AFTER_S });
    }
    if (this.#overShare.has(tenantId)) {
      throw new DomainError('ingest_backlog_full', {
        message: OVER_SHARE_MESSAGE,
        retryAfterS: RETRY_AFTER_S,
      });
    }
  }

  /**
   * Whether stored events of a tenant may be queued, to be rated again. Measures the queue for each call, because one
   * request can queue very many. They fill at most half of the tenant's share, so that its new events are accepted
   * meanwhile.
   */
  async hasRoomToReprocess(tenantId: string): Promise<boolean> {
    const { queue } = this.#options;
    const backlog = await queue.backlog();
    if (!isBelow(backlog, this.#max)) return false;
    const most = partOf(this.#shareOf(backlog), REPROCESS_PART);
    return isBelow(backlog, most) || !(await queue.tenantsHolding(most)).includes(tenantId);
  }

  stop(): void {
    this.#stopRefreshing();
  }

  /** Measures the queue; returns after how many milliseconds to measure it again. */
  async #refresh(): Promise<number> {
    const wasAsked = this.#isAsked;
    this.#isAsked = false;
    try {
      const latest = await this.#options.queue.backlog();
      this.#overShare = await this.#tenantsOverShare(latest);
      this.#latest = latest;
    } catch {
      // PostgreSQL is unreachable, so appends fail with errors of their own; the last figures are kept until it is
      // back.
    }
    this.#isResting = !wasAsked && !this.#isAsked && this.#latest.segments === 0;
    return this.#isResting ? RESTING_INTERVAL_MS : BACKLOG_REFRESH_INTERVAL_MS;
  }

  /** Queries for tenants only while one of them can hold more than a share, which is rare. */
  async #tenantsOverShare(backlog: Backlog): Promise<ReadonlySet<string>> {
    const share = this.#shareOf(backlog);
    // A full backlog refuses everybody anyway.
    if (isBelow(backlog, share) || !isBelow(backlog, this.#max)) return NOBODY;
    return new Set(await this.#options.queue.tenantsHolding(share));
  }

  #shareOf(backlog: BacklogSize): BacklogSize {
    const max = this.#max;
    return {
      events: tenantShare(backlog.events, max.events),
      bytes: tenantShare(backlog.bytes, max.bytes),
      segments: tenantShare(backlog.segments, max.segments),
    };
  }
}

function partOf({ events, bytes, segments }: BacklogSize, part: number): BacklogSize {
  return {
    events: Math.ceil(events * part),
    bytes: Math.ceil(bytes * part),
    segments: Math.ceil(segments * part),
  };
}

function isBelow({ events, bytes, segments }: BacklogSize, max: BacklogSize): boolean {
  return events < max.events && bytes < max.bytes && segments < max.segments;
}
