import type { CompiledRule } from '../rules/index.js';

/** The percentage at which the limit itself is reached. */
export const WHOLE_PERCENT = 100;

/** The alerts of a window whose usage has reached its next notice. */
export interface Crossing {
  /** Percentages of the limit that send an alert now, ascending. */
  readonly percents: readonly number[];
  /** The usage × 10^18 at which the next alert is due; undefined after the last. */
  readonly next: bigint | undefined;
}

/** The usage × 10^18 at which the first alert of a new window is due. */
export function firstAlertAt(rule: Pick<CompiledRule, 'notifyAt'>, limit: bigint): bigint {
  const [percent = WHOLE_PERCENT] = rule.notifyAt;
  return noticeAt(limit, percent);
}

/**
 * Returns the alerts of a window whose usage has reached its next alert. Usage that falls and rises again sends no
 * alert twice, because usage never lowers `next`; only a change of the limit does (`window-limit-store.ts`).
 *
 * @param notice the usage × 10^18 at which the next alert was due
 * @param used not below `notice`
 */
export function crossingOf(
  rule: Pick<CompiledRule, 'notifyAt'>,
  limit: bigint,
  notice: bigint,
  used: bigint,
): Crossing {
  const percents: number[] = [];
  let next: bigint | undefined;
  for (const percent of [...rule.notifyAt, WHOLE_PERCENT]) {
    const amount = noticeAt(limit, percent);
    if (amount > used) next ??= amount;
    else if (amount >= notice) percents.push(percent);
  }
  return { percents, next };
}

/**
 * Returns the usage at which a percentage is reached. Usage has at most 18 fraction digits, so an amount with more of
 * them is rounded up to 18.
 */
function noticeAt(limit: bigint, percent: number): bigint {
  const hundredfold = limit * BigInt(percent);
  const isRounded = hundredfold > 0n && hundredfold % 100n !== 0n;
  return hundredfold / 100n + (isRounded ? 1n : 0n);
}
