import type { Config } from '../config.js';
import { EventQuotas, takeCounterNo } from '../modules/quotas/index.js';
import type { Logger } from '../platform/log/index.js';
import { DurationHistogram, type Metrics } from '../platform/metrics/index.js';
import {
  PostgresSegmentQueue,
  type SegmentQueueOptions,
  type SegmentRecord,
  type SegmentStore,
  type SegmentWriter,
  ShardCount,
} from '../platform/queue/index.js';
import { createSweepJob, type SweepJob } from '../platform/sweep-job.js';
import { openSegmentStore } from './passing-bytes.js';
import type { Stores } from './stores.js';

/** Sweep interval. Rated segments stay on disk for up to three times as long, because a file is reused. */
const SWEEP_POLL_MS = 10_000;

export interface OpenQueue {
  readonly queue: PostgresSegmentQueue;
  readonly quotas: Pick<EventQuotas, 'appendWithinQuota'>;
  /** Call it when nothing is appended any more. */
  close(): Promise<void>;
}

export interface QueueEvents {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly onAppended: () => void;
  /** This process among those of the service that append. */
  readonly writer: SegmentWriter;
}

/**
 * Opens the queue to which this process appends; it deletes the files of segments, if there are any, once they are
 * rated. Objects are deleted by the workers that have read them.
 */
export async function openQueue(
  stores: Pick<Stores, 'postgres' | 'folders' | 'objects'>,
  { objectStoreUrl }: Pick<Config, 'objectStoreUrl'>,
  { log, metrics, onAppended, writer }: QueueEvents,
): Promise<OpenQueue> {
  const { postgres } = stores;
  const store = await openSegmentStore(stores, writer);
  const options = {
    ...(await openShards(postgres, log)),
    ...(objectStoreUrl !== undefined && { outsideBytesMin: objectStoreUrl.segmentBytesMin }),
  };
  const queue = new NotifyingQueue(postgres, onAppended, store, options);
  const quotas = new EventQuotas(postgres, queue, await takeCounterNo(postgres));
  const flushes = new DurationHistogram({
    name: 'tollgate_queue_flush_seconds',
    help: 'Time to make a group of accepted requests durable, also if that fails.',
    registers: [metrics],
  }).series({});
  const abort = new AbortController();
  const sweeping = createSegmentSweepJob(queue, log).run(abort.signal);
  return {
    queue,
    quotas: {
      async appendWithinQuota(records) {
        const startMs = performance.now();
        const refusals = await quotas
          .appendWithinQuota(records)
          .finally(() => flushes.observe(performance.now() - startMs));
        if (refusals.length < records.length) onAppended();
        return refusals;
      },
    },
    async close() {
      abort.abort();
      await sweeping;
      await store?.close();
    },
  };
}

/** Opens the number of shards, by which this process groups the events that it appends. */
export async function openShards(postgres: Stores['postgres'], log: Logger): Promise<SegmentQueueOptions> {
  const count = await ShardCount.open(postgres, {
    onChange: (shards, before) => log.info({ shards, before }, 'the number of shards has changed'),
  });
  return { shards: () => count.current() };
}

/** Creates the job that deletes the files or objects of rated segments. */
export function createSegmentSweepJob(queue: PostgresSegmentQueue, log: Logger): SweepJob<void> {
  return createSweepJob({
    sweep: () => queue.sweepStore(),
    pollMs: SWEEP_POLL_MS,
    log,
    failureMessage: 'files or objects of rated segments could not be deleted',
  });
}

/** Notifies the worker of this process at once; other processes notice by polling. */
class NotifyingQueue extends PostgresSegmentQueue {
  readonly #onAppended: () => void;

  constructor(
    postgres: Stores['postgres'],
    onAppended: () => void,
    ...rest: [store: SegmentStore | undefined, options: SegmentQueueOptions]
  ) {
    super(postgres, ...rest);
    this.#onAppended = onAppended;
  }

  override async append(records: readonly SegmentRecord[]): Promise<void> {
    await super.append(records);
    this.#onAppended();
  }
}
