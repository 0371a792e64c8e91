import { DomainError } from '../../kernel/errors.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import type { Backlog, BacklogSize, SegmentQueue } from '../../platform/queue/index.js';

const BACKLOG_EVENTS_MAX_DEFAULT = 2_000_000;
const BACKLOG_BYTES_MAX_DEFAULT = 4 * 1_024 ** 3;
/** Bounds the cost of measuring: under light load a segment may contain a single event. */
export const BACKLOG_SEGMENTS_MAX = 200_000;
const BACKLOG_REFRESH_INTERVAL_MS = 250;
const RETRY_AFTER_S = 5;
const OVER_SHARE_MESSAGE =
  "The tenant's share of the usage queue is full; nothing was accepted. Try again later.";

/** Repeats a task until stopped. Injected, so that tests control time. */
export interface Scheduler {
  /** Runs `task` now, and again `intervalMs` after each run has ended. The returned function stops it. */
  every(intervalMs: number, task: () => Promise<void>): () => void;
}

export const timerScheduler: Scheduler = {
  every(intervalMs, task) {
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    const run = async () => {
      await task();
      if (!stopped) timer = setTimeout(run, intervalMs).unref();
    };
    void run();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
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
  readonly #stopRefreshing: () => void;

  constructor(options: BacklogGateOptions) {
    this.#options = options;
    this.#max = {
      events: options.eventsMax ?? BACKLOG_EVENTS_MAX_DEFAULT,
      bytes: options.bytesMax ?? BACKLOG_BYTES_MAX_DEFAULT,
      segments: BACKLOG_SEGMENTS_MAX,
    };
    this.#stopRefreshing = options.scheduler.every(BACKLOG_REFRESH_INTERVAL_MS, () => this.#refresh());
  }

  /** The queue of all nodes together, as last measured. */
  get backlog(): Backlog {
    return this.#latest;
  }

  /** @throws DomainError `ingest_backlog_full`. */
  check(tenantId: string): void {
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

  stop(): void {
    this.#stopRefreshing();
  }

  async #refresh(): Promise<void> {
    try {
      const latest = await this.#options.queue.backlog();
      this.#overShare = await this.#tenantsOverShare(latest);
      this.#latest = latest;
    } catch {
      // PostgreSQL is unreachable, so appends fail with errors of their own; the last figures are kept until it is
      // back.
    }
  }

  /** Queries for tenants only while one of them can hold more than a share, which is rare. */
  async #tenantsOverShare(backlog: Backlog): Promise<ReadonlySet<string>> {
    const max = this.#max;
    const share = {
      events: tenantShare(backlog.events, max.events),
      bytes: tenantShare(backlog.bytes, max.bytes),
      segments: tenantShare(backlog.segments, max.segments),
    };
    // A full backlog refuses everybody anyway.
    if (isBelow(backlog, share) || !isBelow(backlog, max)) return NOBODY;
    return new Set(await this.#options.queue.tenantsHolding(share));
  }
}

function isBelow({ events, bytes, segments }: BacklogSize, max: BacklogSize): boolean {
  return events < max.events && bytes < max.bytes && segments < max.segments;
}
