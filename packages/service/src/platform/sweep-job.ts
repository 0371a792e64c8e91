import type { Counter } from './metrics/index.js';
import type { AwaitedWork } from './postgres/index.js';
import { repeat, retryPauseMs, Wakeup } from './wakeup.js';

/** Work that is looked for again and again. Any number of processes may run the same job on one database. */
export interface SweepJob<Result = number> {
  /** Sweeps until `signal` aborts, then ends after the current step; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Does all work that is due, and returns how much that was. Rejects when a store fails. */
  sweep(signal?: AbortSignal): Promise<Result>;
  /** For a watch; ends the wait for the next sweep when work is due. Undefined for a job that only polls. */
  readonly awaited: AwaitedWork | undefined;
}

export interface SweepJobOptions<Result> {
  readonly sweep: (signal?: AbortSignal) => Promise<Result>;
  /**
   * Time from the end of one sweep to the beginning of the next. Without `due`, it is at least as long after a failure.
   */
  readonly pollMs: number;
  /** By this, a watch finds work before the poll does. */
  readonly due?: Omit<AwaitedWork, 'onDue'>;
  readonly log: { warn(details: object, message: string): void };
  /** The line in the log when a sweep fails. */
  readonly failureMessage: string;
  /** Counts failed sweeps. */
  readonly failures?: Counter;
}

export function createSweepJob<Result>(options: SweepJobOptions<Result>): SweepJob<Result> {
  const { sweep, pollMs, due, log, failureMessage, failures } = options;
  const wakeup = new Wakeup();
  return {
    sweep,
    awaited: due && { ...due, onDue: () => wakeup.notify() },
    run: (signal) =>
      repeat(() => sweep(signal), signal, {
        pollMs,
        wakeup,
        onFailure: (err) => {
          // Stopping a sweep may make it fail; the next process repeats it.
          if (signal.aborted) return;
          failures?.inc();
          log.warn({ err }, failureMessage);
        },
        failurePauseMs: (count) => Math.max(due?.lookMs ?? pollMs, retryPauseMs(count)),
      }),
  };
}

/**
 * Repeats a step until it finds less than a full batch to do, or `signal` aborts.
 * @param step does at most `batchMax`, and returns how much it did
 * @returns the sum of all steps
 */
export async function inBatches(
  batchMax: number,
  step: () => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  let sum = 0;
  while (signal?.aborted !== true) {
    const done = await step();
    sum += done;
    if (done < batchMax) break;
  }
  return sum;
}
