import type { CompiledRule } from '../rules/index.js';

/** The percentage at which the limit itself is reached. */
export const WHOLE_PERCENT = 100;

type Thresholds = Pick<CompiledRule, 'notifyAt' | 'measure'>;

/** The thresholds of a window that usage has passed, upwards or downwards. At least one list is empty. */
export interface ThresholdChange {
  /** Percentages of the limit that usage has reached, ascending. */
  readonly reached: readonly number[];
  /** Percentages below which usage has fallen, ascending. Their alerts may not have been sent. */
  readonly recovered: readonly number[];
  /** The amount × 10^18 of the next percentage of the limit without raises; undefined when all are reached. */
  readonly next: bigint | undefined;
}

/** The limit × 10^18 of a window, and the amount that raises add to it now. */
export interface RaisedLimit {
  readonly limit: bigint;
  readonly raised: bigint;
}

/** A percentage of a limit, and the usage × 10^18 that reaches it. */
interface Threshold {
  readonly percent: number;
  readonly amount: bigint;
}

/** The lowest percentage that sends an alert. */
export function lowestPercent({ notifyAt: [percent = WHOLE_PERCENT] }: Thresholds): number {
  return percent;
}

/** The usage × 10^18 at which the first alert of a new window is due. */
export function firstAlertAt(rule: Thresholds, limit: bigint): bigint {
  return noticeAt(rule, limit, lowestPercent(rule));
}

/**
 * Compares usage with the thresholds of its window. A window stores the lowest amount above its usage, so the
 * thresholds below that amount are those that were reached before. They differ from the usage after it has grown or
 * fallen, after another limit (`window-limit-store.ts`), and after a change of the percentages.
 *
 * Raises come and go without a change of the window. So the stored amount names a percentage of the limit without
 * raises, and usage is compared with the same percentage of the raised limit.
 *
 * @param notice the amount × 10^18 of the next percentage; undefined when all percentages were reached
 * @returns undefined when the usage has passed no threshold
 */
export function thresholdChangeOf(
  rule: Thresholds,
  { limit, raised }: RaisedLimit,
  notice: bigint | undefined,
  used: bigint,
): ThresholdChange | undefined {
  const thresholds = thresholdsOf(rule, limit);
  const isReached = ({ percent, amount }: Threshold) =>
    (raised === 0n ? amount : noticeAt(rule, limit + raised, percent)) <= used;
  const next = thresholds.find((one) => !isReached(one))?.amount;
  if (next === notice) return undefined;
  const wasReached = ({ amount }: Threshold) => notice === undefined || amount < notice;
  return {
    reached: thresholds.filter((one) => isReached(one) && !wasReached(one)).map(percentOf),
    recovered: thresholds.filter((one) => wasReached(one) && !isReached(one)).map(percentOf),
    next,
  };
}

/** Returns the percentages of a limit, with its raises, that usage has reached. Both × 10^18. */
export function reachedPercents(rule: Thresholds, limit: bigint, used: bigint): number[] {
  return thresholdsOf(rule, limit)
    .filter(({ amount }) => amount <= used)
    .map(percentOf);
}

const percentOf = ({ percent }: Threshold) => percent;

/** Thresholds of the latest limit of each rule: nearly all windows of a rule have the same limit. */
const latestThresholds = new WeakMap<
  Thresholds,
  { readonly limit: bigint; readonly thresholds: Threshold[] }
>();

/** Returns the thresholds of a limit, ascending. Usage is compared with them in every window of a batch. */
function thresholdsOf(rule: Thresholds, limit: bigint): readonly Threshold[] {
  const known = latestThresholds.get(rule);
  if (known?.limit === limit) return known.thresholds;
  const percents = [...rule.notifyAt, WHOLE_PERCENT];
  const thresholds = percents.map((percent) => ({ percent, amount: noticeAt(rule, limit, percent) }));
  latestThresholds.set(rule, { limit, thresholds });
  return thresholds;
}

/**
 * Returns the usage at which a percentage is reached. Usage has at most 18 fraction digits, so an amount with more of
 * them is rounded up to 18. A greatest quantity may equal its limit: only the next amount above it exceeds the limit.
 */
function noticeAt({ measure }: Thresholds, limit: bigint, percent: number): bigint {
  if (measure === 'max' && percent === WHOLE_PERCENT) return limit + 1n;
  const hundredfold = limit * BigInt(percent);
  const isRounded = hundredfold > 0n && hundredfold % 100n !== 0n;
  return hundredfold / 100n + (isRounded ? 1n : 0n);
}
