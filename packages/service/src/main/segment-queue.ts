import { EventQuotas } from '../modules/quotas/index.js';
import type { Logger } from '../platform/log/index.js';
import {
  PostgresSegmentQueue,
  SegmentFiles,
  type SegmentQueueOptions,
  type SegmentRecord,
  type SegmentStore,
  ShardCount,
} from '../platform/queue/index.js';
import { createSweepJob } from '../platform/sweep-job.js';
import type { Stores } from './stores.js';

/** Sweep interval, and so how long rated segments may still take room on disk. */
const SWEEP_POLL_MS = 10_000;

export interface OpenQueue {
  readonly queue: PostgresSegmentQueue;
  readonly quotas: Pick<EventQuotas, 'appendWithinQuota'>;
  /** Call it when nothing is appended any more. */
  close(): Promise<void>;
}

export interface QueueEvents {
  readonly log: Logger;
  readonly onAppended: () => void;
}

/**
 * Opens the queue to which this process appends; it deletes the files of segments, if there are any, once they are
 * rated.
 */
export async function openQueue(
  { postgres, folders }: Pick<Stores, 'postgres' | 'folders'>,
  { log, onAppended }: QueueEvents,
): Promise<OpenQueue> {
  const files = folders && (await SegmentFiles.open(folders.segments));
  const queue = new NotifyingQueue(postgres, onAppended, files, await openShards(postgres, log));
  const quotas = new EventQuotas(postgres, queue);
  const abort = new AbortController();
  const sweeping = createSweepJob({
    sweep: () => queue.sweepStore(),
    pollMs: SWEEP_POLL_MS,
    log,
    failureMessage: 'files of rated segments could not be deleted',
  }).run(abort.signal);
  return {
    queue,
    quotas: {
      async appendWithinQuota(records) {
        const refusals = await quotas.appendWithinQuota(records);
        if (refusals.length < records.length) onAppended();
        return refusals;
      },
    },
    async close() {
      abort.abort();
      await sweeping;
      await files?.close();
    },
  };
}

/** Opens the number of shards by which this process groups what it appends. */
export async function openShards(postgres: Stores['postgres'], log: Logger): Promise<SegmentQueueOptions> {
  const count = await ShardCount.open(postgres, {
    onChange: (shards, before) => log.info({ shards, before }, 'the number of shards has changed'),
  });
  return { shards: () => count.current() };
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
