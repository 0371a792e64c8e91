import { totalmem } from 'node:os';
import type { PipelineStats } from '../modules/pipeline/index.js';
import { WorkerHost, type WorkerHostEvents } from './worker-host.js';
import type { WorkerThreadData } from './worker-protocol.js';

/**
 * Memory for the young objects of a thread; a third of it is in use between two collections. The objects of a batch
 * live until the batch is written. At the default size they survive several collections, each of which copies them:
 * with 48 MB this takes a quarter of the thread's time, with 192 MB a tenth.
 */
const YOUNG_MB_MAX = 192;
const YOUNG_MB_MIN = 48;
/** Upper bound of the part of the machine's memory that the young objects of several threads may take. */
const YOUNG_SHARE_MAX = 0.2;
const BYTES_PER_MB = 1_048_576;

export interface RatingThreadsEvents {
  readonly onBatchCommitted: () => void;
  readonly onBatchEnded: WorkerHostEvents['onBatchEnded'];
  /** @param thread counted from 0 */
  readonly onStats: (
    thread: number,
    stats: PipelineStats,
    stageSeconds: Readonly<Record<string, number>>,
  ) => void;
  /** Called when a thread ends without being stopped; the reason is one sentence. */
  readonly onUnexpectedExit: (reason: string) => void;
}

/** Returns the memory for the young objects of each thread, in MB. */
export function youngGenerationMb(threads: number, machineBytes: number): number {
  if (threads === 1) return YOUNG_MB_MAX;
  const share = Math.floor((machineBytes * YOUNG_SHARE_MAX) / BYTES_PER_MB / threads);
  return Math.max(YOUNG_MB_MIN, Math.min(YOUNG_MB_MAX, share));
}

/**
 * The rating threads of a process. The first is notified of new segments, and a thread that claims a full batch wakes
 * the next one. So under light load one thread rates larger batches, instead of several threads that rate small ones.
 */
export class RatingThreads {
  readonly #hosts: readonly WorkerHost[];

  constructor(count: number, data: WorkerThreadData, events: RatingThreadsEvents, program?: URL) {
    const youngMb = youngGenerationMb(count, totalmem());
    this.#hosts = Array.from({ length: count }, (_, thread) => {
      const { onBatchCommitted, onBatchEnded, onUnexpectedExit } = events;
      const onStats = (stats: PipelineStats, seconds: Readonly<Record<string, number>>) =>
        events.onStats(thread, stats, seconds);
      const onFullClaim = () => this.#next(thread)?.notifyFound('waiting');
      return new WorkerHost(
        data,
        { onBatchCommitted, onBatchEnded, onFullClaim, onStats, onUnexpectedExit },
        youngMb,
        program,
      );
    });
  }

  /** Lets the threads share out these shards, and looks for their segments. */
  setShards(shards: readonly number[]): void {
    for (const host of this.#hosts) host.setShards(shards);
    this.notifyFound('deferred');
    this.notifyFound('waiting');
  }

  /** Call it after segments were appended. */
  notify(): void {
    this.#hosts[0]?.notify();
  }

  /** Call it when segments were found. All threads learn of deferred events, because they must not overtake them. */
  notifyFound(news: 'waiting' | 'deferred'): void {
    const hosts = news === 'deferred' ? this.#hosts : this.#hosts.slice(0, 1);
    for (const host of hosts) host.notifyFound(news);
  }

  /** Stops the threads after their running batches. */
  async stop(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()));
  }

  #next(thread: number): WorkerHost | undefined {
    return this.#hosts.length === 1 ? undefined : this.#hosts[(thread + 1) % this.#hosts.length];
  }
}
