import { Worker } from 'node:worker_threads';
import type { PipelineStats, SegmentNews } from '../modules/pipeline/index.js';
import type { EndedWork } from '../platform/tracing/index.js';
import { PacedNotice } from './paced-notice.js';
import type { FromWorker, ToWorker, WorkerThreadData } from './worker-protocol.js';

export interface WorkerHostEvents {
  readonly onBatchCommitted: () => void;
  /** Called when the thread has claimed a full batch, so that more segments may wait. */
  readonly onFullClaim: () => void;
  /** Called with each batch that has ended, if they are traced. */
  readonly onBatchEnded: (work: EndedWork) => void;
  readonly onStats: (stats: PipelineStats, stageSeconds: Readonly<Record<string, number>>) => void;
  /** Called when the thread ended without being stopped; the reason is one sentence. */
  readonly onUnexpectedExit: (reason: string) => void;
}

const PROGRAM = new URL('./worker-thread.js', import.meta.url);
/**
 * A message wakes the thread, which costs both threads as much as accepting an event. The worker gathers events for
 * longer than this before it claims.
 */
const NOTIFY_INTERVAL_MS = 25;

/** A rating thread, seen from the main thread. */
export class WorkerHost {
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  #stopping = false;
  readonly #appended = new PacedNotice(NOTIFY_INTERVAL_MS, () =>
    this.#send({ kind: 'segments', news: 'appended' }),
  );

  constructor(data: WorkerThreadData, events: WorkerHostEvents, youngMb: number, program = PROGRAM) {
    this.#thread = new Worker(program, {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: youngMb },
    });
    let reason = 'The rating thread ended';
    this.#thread.on('error', (error: unknown) => {
      reason = `The rating thread failed: ${error instanceof Error ? error.message : String(error)}`;
    });
    this.#ended = new Promise((resolve) => {
      this.#thread.on('exit', () => {
        resolve();
        if (!this.#stopping) events.onUnexpectedExit(`${reason}.`);
      });
    });
    this.#thread.on('message', (message: FromWorker) => {
      if (message.kind === 'batch-committed') events.onBatchCommitted();
      else if (message.kind === 'full-claim') events.onFullClaim();
      else if (message.kind === 'batch-ended') events.onBatchEnded(message.work);
      else events.onStats(message.stats, message.stageSeconds);
    });
  }

  /** Lets the rating thread claim from these shards only. */
  setShards(shards: readonly number[]): void {
    this.#send({ kind: 'shards', shards });
  }

  /** Wakes the rating thread because segments were found. */
  notifyFound(news: Exclude<SegmentNews, 'appended'>): void {
    this.#send({ kind: 'segments', news });
  }

  /**
   * Wakes the rating thread because segments were appended. The thread gets many calls in a short time as two messages:
   * the first at once, and one later.
   */
  notify(): void {
    this.#appended.notify();
  }

  /** Stops the thread after its running batches; does nothing when it has ended already. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#appended.stop();
    this.#send({ kind: 'stop' });
    await this.#ended;
  }

  #send(message: ToWorker): void {
    this.#thread.postMessage(message);
  }
}
