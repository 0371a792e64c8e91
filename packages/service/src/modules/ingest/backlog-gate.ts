import { ApiError } from '../../platform/http/index.js';
import type { Backlog, SegmentQueue } from '../../platform/queue/index.js';

const BACKLOG_EVENTS_MAX_DEFAULT = 2_000_000;
const BACKLOG_BYTES_MAX_DEFAULT = 4 * 1_024 ** 3;
/** Bounds the cost of measuring: under light load a segment may hold a single event. */
export const BACKLOG_SEGMENTS_MAX = 200_000;
const BACKLOG_REFRESH_INTERVAL_MS = 250;
const RETRY_AFTER_S = 5;

/** Repeats a task until stopped. Injected, so that tests own time. */
export interface Scheduler {
  /** Runs `task` now and then `intervalMs` after each end of it. The returned function stops that. */
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
  readonly queue: Pick<SegmentQueue<never>, 'backlog'>;
  readonly scheduler: Scheduler;
  readonly eventsMax?: number;
  readonly bytesMax?: number;
}

/** Refuses new events while the workers are too far behind. */
export class BacklogGate {
  private readonly eventsMax: number;
  private readonly bytesMax: number;
  private latest: Backlog = {
    segments: 0,
    events: 0,
    bytes: 0,
    deferredEvents: 0,
    oldestReceivedAtMs: undefined,
  };
  private readonly stopRefreshing: () => void;

  constructor(private readonly options: BacklogGateOptions) {
    this.eventsMax = options.eventsMax ?? BACKLOG_EVENTS_MAX_DEFAULT;
    this.bytesMax = options.bytesMax ?? BACKLOG_BYTES_MAX_DEFAULT;
    this.stopRefreshing = options.scheduler.every(BACKLOG_REFRESH_INTERVAL_MS, () => this.refresh());
  }

  /** The queue as last measured, by all nodes together. */
  get backlog(): Backlog {
    return this.latest;
  }

  /** @throws ApiError `ingest_backlog_full`. */
  check(): void {
    const { events, bytes, segments } = this.latest;
    if (events < this.eventsMax && bytes < this.bytesMax && segments < BACKLOG_SEGMENTS_MAX) return;
    throw new ApiError('ingest_backlog_full', { retryAfterS: RETRY_AFTER_S });
  }

  stop(): void {
    this.stopRefreshing();
  }

  private async refresh(): Promise<void> {
    try {
      this.latest = await this.options.queue.backlog();
    } catch {
      // The store is away, so appends fail too and say so themselves; the last figures stand until it is back.
    }
  }
}
