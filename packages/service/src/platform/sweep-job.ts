import type { Counter } from './metrics/index.js';
import { repeat, retryPauseMs } from './wakeup.js';

/** Work that is looked for again and again. Any number of processes may run the same job on one database. */
export interface SweepJob<Result = number> {
  /** Sweeps until `signal` aborts, then ends after the current step; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Does all work that is due, and returns how much that was. Rejects when a store fails. */
  sweep(signal?: AbortSignal): Promise<Result>;
}

export interface SweepJobOptions<Result> {
  readonly sweep: (signal?: AbortSignal) => Promise<Result>;
  /** From the end of one sweep to the beginning of the next; after a failure at least as long. */
  readonly pollMs: number;
  readonly log: { warn(details: object, message: string): void };
  /** The line in the log when a sweep fails. */
  readonly failureMessage: string;
  /** Counts failed sweeps. */
  readonly failures?: Counter;
}

export function createSweepJob<Result>(options: SweepJobOptions<Result>): SweepJob<Result> {
  const { sweep, pollMs, log, failureMessage, failures } = options;
  return {
    sweep,
    run: (signal) =>
      repeat(() => sweep(signal), signal, {
        pollMs,
        onFailure: (err) => {
          // Stopping a sweep may make it fail; the next process repeats it.
          if (signal.aborted) return;
          failures?.inc();
          log.warn({ err }, failureMessage);
        },
        failurePauseMs: (count) => Math.max(pollMs, retryPauseMs(count)),
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
