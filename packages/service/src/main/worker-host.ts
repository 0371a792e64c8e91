import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { PipelineStats } from '../modules/pipeline/index.js';
import type { FromWorker, ToWorker, WorkerThreadData } from './worker-protocol.js';

export interface WorkerHostEvents {
  readonly onBatchCommitted: () => void;
  readonly onStats: (stats: PipelineStats, stageSeconds: Readonly<Record<string, number>>) => void;
  /** The thread ended without being asked to; the reason is one sentence. */
  readonly onUnexpectedExit: (reason: string) => void;
}

/** The rating thread as the rest of the process sees it. */
export class WorkerHost {
  readonly #thread: Worker;
  #stopping = false;

  constructor(data: WorkerThreadData, events: WorkerHostEvents) {
    this.#thread = new Worker(new URL('./worker-thread.js', import.meta.url), { workerData: data });
    let reason = 'The rating thread ended';
    this.#thread.on('error', (error) => {
      reason = `The rating thread failed: ${error.message}`;
    });
    this.#thread.on('exit', () => {
      if (!this.#stopping) events.onUnexpectedExit(`${reason}.`);
    });
    this.#thread.on('message', (message: FromWorker) => {
      if (message.kind === 'batch-committed') events.onBatchCommitted();
      else events.onStats(message.stats, message.stageSeconds);
    });
  }

  /** Says that there is something to rate. */
  notify(): void {
    this.#send({ kind: 'segments-appended' });
  }

  /** Ends the thread after the batches in hand. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const exited = once(this.#thread, 'exit');
    this.#send({ kind: 'stop' });
    await exited;
  }

  #send(message: ToWorker): void {
    this.#thread.postMessage(message);
  }
}
