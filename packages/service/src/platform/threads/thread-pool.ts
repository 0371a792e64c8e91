import { DomainError } from '../../kernel/errors.js';
import { FairQueue, type FairQueueBounds } from './fair-queue.js';
import { type AnswerCall, JobThread, ThreadEndedError, type ThreadProgram } from './job-thread.js';
import type { Signatures } from './messages.js';

/** Calls `end` after a time. Returns a function that prevents it. */
export type StartTimer = (end: () => void, ms: number) => () => void;

export interface ThreadPoolOptions extends FairQueueBounds {
  readonly thread: ThreadProgram;
  readonly threadsMax: number;
  /** A thread without a job is ended after this time. */
  readonly idleMsMax: number;
  /** A job that runs longer is ended, with its thread. */
  readonly jobMsMax: number;
  /** Measures `jobMsMax`. For tests, which end jobs when they want; the default is `setTimeout`. */
  readonly startTimer?: StartTimer | undefined;
  /** The errors of a job that finds no room to wait, takes too long, or loses its thread. */
  readonly errors: {
    busy(): DomainError;
    tooLong(): DomainError;
    ended(cause: ThreadEndedError): DomainError;
  };
}

/** Functions of this thread that the threads of a pool may call during a job. */
export type CallHandlers<Calls extends Signatures<Calls>> = {
  readonly [Name in keyof Calls]: (input: Calls[Name]['input']) => Promise<Calls[Name]['result']>;
};

export interface JobOptions<Calls extends Signatures<Calls>> {
  readonly calls: CallHandlers<Calls>;
  /** Ends the job, or its waiting, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

interface Job {
  readonly name: string;
  readonly input: unknown;
  readonly answerCall: AnswerCall;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Set while the job runs. */
  thread?: JobThread;
}

const startTimeout: StartTimer = (end, ms) => {
  const timer = setTimeout(end, ms);
  return () => clearTimeout(timer);
};

/**
 * A few threads that run the jobs of many owners in turns (`FairQueue`). Threads are started when needed. A job that
 * takes too long, or too much memory, is ended with its thread, which runs no other job.
 */
export class ThreadPool<Jobs extends Signatures<Jobs>, Calls extends Signatures<Calls>> {
  readonly #options: ThreadPoolOptions;
  readonly #queue: FairQueue<Job>;
  readonly #running = new Set<Job>();
  /** Threads without a job, with the timer that ends each. The most recently used one is last. */
  readonly #idle = new Map<JobThread, NodeJS.Timeout>();
  #isClosed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options);
  }

  /** Number of running and waiting jobs, and of threads. */
  get counts(): { readonly running: number; readonly waiting: number; readonly threads: number } {
    const running = this.#running.size;
    return { running, waiting: this.#queue.size, threads: running + this.#idle.size };
  }

  /** @throws the error of the job; DomainError as `options.errors` says; `shutting_down` */
  run<Name extends keyof Jobs & string>(
    owner: string,
    name: Name,
    input: Jobs[Name]['input'],
    { calls, signal }: JobOptions<Calls>,
  ): Promise<Jobs[Name]['result']> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#isClosed) throw new DomainError('shutting_down');
      const answerCall: AnswerCall = (called, asked) => calls[called as keyof Calls](asked);
      const onAbort = () => this.#abort(owner, job, signal?.reason);
      const settled = () => signal?.removeEventListener('abort', onAbort);
      const job: Job = {
        ...{ name, input, answerCall },
        resolve: (value) => {
          settled();
          resolve(value);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      if (!this.#queue.add(owner, job)) throw this.#options.errors.busy();
      signal?.addEventListener('abort', onAbort);
      this.#begin();
    });
  }

  /** Ends all jobs with `shutting_down`, and all threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#queue.removeAll()) job.reject(new DomainError('shutting_down'));
    const running = Array.from(this.#running, ({ thread }) => thread);
    for (const timer of this.#idle.values()) clearTimeout(timer);
    const threads = [...running, ...this.#idle.keys()];
    await Promise.all(threads.map((thread) => thread?.end(new DomainError('shutting_down'))));
  }

  /** Starts jobs as long as there are free threads. */
  #begin(): void {
    while (!this.#isClosed && this.#running.size < this.#options.threadsMax) {
      const next = this.#queue.take();
      if (next === undefined) return;
      this.#running.add(next.work);
      void this.#do(next.owner, next.work);
    }
  }

  async #do(owner: string, job: Job): Promise<void> {
    const { jobMsMax, errors, startTimer = startTimeout } = this.#options;
    const thread = this.#takeThread();
    job.thread = thread;
    const stopTimer = startTimer(() => void thread.end(errors.tooLong()), jobMsMax);
    try {
      job.resolve(await thread.run(job.name, job.input, job.answerCall));
    } catch (error) {
      job.reject(error instanceof ThreadEndedError ? errors.ended(error) : error);
    }
    stopTimer();
    // A thread that is being ended counts until it has ended.
    if (thread.isEnding) await thread.exited;
    else this.#keep(thread);
    this.#running.delete(job);
    this.#queue.done(owner);
    this.#begin();
  }

  #takeThread(): JobThread {
    const last = [...this.#idle.keys()].at(-1);
    if (last === undefined) {
      const thread: JobThread = new JobThread(this.#options.thread, () => this.#forget(thread));
      return thread;
    }
    this.#forget(last);
    return last;
  }

  /** Keeps a thread for the next job. */
  #keep(thread: JobThread): void {
    const end = () => void thread.end(undefined);
    this.#idle.set(thread, setTimeout(end, this.#options.idleMsMax).unref());
  }

  #forget(thread: JobThread): void {
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
  }

  #abort(owner: string, job: Job, reason: unknown): void {
    if (this.#queue.remove(owner, job)) job.reject(reason);
    else void job.thread?.end(reason);
  }
}
