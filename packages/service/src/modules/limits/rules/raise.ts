import type { TimeWindow } from '../../../kernel/period.js';

/** A raise of a limit for a time, as rules apply it. */
export interface CompiledRaise {
  readonly limitKey: string;
  /** × 10^18, above 0. */
  readonly amount: bigint;
  readonly fromMs: number;
  /** Exclusive: when it ends by itself, or was ended before. */
  readonly untilMs: number;
}

/**
 * Returns the sum × 10^18 by which raises lift the limit of a window: of a window that contains the present, by those
 * that are active now; of a past window, by those that were active at its end; of a future one, by those that will be
 * active at its start. So a raise applies at once, ends by itself, and leaves windows as they ended.
 */
export function raisedBy(
  raises: readonly CompiledRaise[],
  limitKey: string,
  { startS, endS }: TimeWindow,
  nowMs: number,
): bigint {
  let sum = 0n;
  const lastMs = endS === undefined ? Number.POSITIVE_INFINITY : endS * 1_000 - 1;
  const atMs = Math.min(Math.max(nowMs, startS * 1_000), lastMs);
  for (const raise of raises) {
    if (raise.limitKey === limitKey && raise.fromMs <= atMs && atMs < raise.untilMs) sum += raise.amount;
  }
  return sum;
}
