import { type ResourceLimits, Worker } from 'node:worker_threads';
import { errorFromData, errorToData } from './error-data.js';
import type { FromThread, JobOutcome, ToThread } from './messages.js';

/** The thread ended in the middle of its job. */
export class ThreadEndedError extends Error {
  override readonly name = 'ThreadEndedError';
}

export interface ThreadProgram {
  readonly program: URL;
  readonly workerData: unknown;
  readonly resourceLimits: ResourceLimits;
}

/**
 * Answers a call that a job makes to this thread. The memory of returned bytes moves to the thread of the job, so
 * nothing here may use them afterwards.
 */
export type AnswerCall = (name: string, input: unknown) => Promise<unknown>;

interface Job {
  readonly answerCall: AnswerCall;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A worker thread that runs one job at a time, seen from this thread. Its program calls `serveJobs`. */
export class JobThread {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #job: Job | undefined;
  #isEnding = false;

  /** @param onEnd called when the thread has ended, for any reason */
  constructor({ program, workerData, resourceLimits }: ThreadProgram, onEnd: () => void) {
    this.#worker = new Worker(program, { workerData, resourceLimits });
    let reason = 'it ended by itself';
    this.#worker.on('error', (error: unknown) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#isEnding = true;
        this.#fail(new ThreadEndedError(`A worker thread ended during its job: ${reason}.`));
        onEnd();
        resolve();
      });
    });
  }

  /** Whether the thread has ended, or is being ended. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Resolves when the thread has ended. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  /** @throws ThreadEndedError when the thread ends first; otherwise the error of the job or of `end` */
  run(name: string, input: unknown, answerCall: AnswerCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#job = { answerCall, resolve, reject };
      this.#send({ kind: 'job', name, input });
    });
  }

  /** Ends the thread wherever it is, and its job with `error`. Returns when it has ended. */
  async end(error: unknown): Promise<void> {
    this.#isEnding = true;
    this.#fail(error);
    await this.#worker.terminate();
    await this.#exited;
  }

  #receive(message: FromThread): void {
    const job = this.#job;
    if (job === undefined) return;
    if (message.kind === 'call') {
      void this.#answer(job, message.callNo, job.answerCall(message.name, message.input));
      return;
    }
    this.#job = undefined;
    const { outcome } = message;
    if (outcome.ok) job.resolve(outcome.value);
    else job.reject(errorFromData(outcome.error));
  }

  async #answer(job: Job, callNo: number, answer: Promise<unknown>): Promise<void> {
    const outcome = await answer.then(
      (value): JobOutcome => ({ ok: true, value }),
      (error): JobOutcome => ({ ok: false, error: errorToData(error) }),
    );
    if (this.#job === job) this.#send({ kind: 'answer', callNo, outcome }, ownMemory(outcome));
  }

  #fail(error: unknown): void {
    this.#job?.reject(error);
    this.#job = undefined;
  }

  #send(message: ToThread, moved: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, moved);
  }
}

/** Returns the memory of bytes that share it with nothing else: it can move to the thread instead of being copied. */
function ownMemory(outcome: JobOutcome): ArrayBuffer[] {
  if (!outcome.ok || !(outcome.value instanceof Uint8Array)) return [];
  const { buffer, byteLength } = outcome.value;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
