const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60 * MS_PER_SECOND;
const MS_PER_HOUR = 60 * MS_PER_MINUTE;

/**
 * The pauses after the first, second, … failed attempt; after the last attempt a delivery is given up. Three days in
 * total.
 */
export const RETRY_PAUSES_MS: readonly number[] = [
  5 * MS_PER_SECOND,
  MS_PER_MINUTE,
  5 * MS_PER_MINUTE,
  30 * MS_PER_MINUTE,
  MS_PER_HOUR,
  2 * MS_PER_HOUR,
  4 * MS_PER_HOUR,
  8 * MS_PER_HOUR,
  12 * MS_PER_HOUR,
  20 * MS_PER_HOUR,
  24 * MS_PER_HOUR,
];

/**
 * A pause is longer or shorter by up to this share, so that deliveries that failed together are not retried together.
 */
const JITTER_SHARE = 0.1;

/**
 * Returns how long to wait after the n-th failed attempt, counted from 1; undefined when that was the last.
 * @param random a number from 0 to 1
 */
export function deliveryPauseMs(attempts: number, random: number): number | undefined {
  const pauseMs = RETRY_PAUSES_MS[attempts - 1];
  if (pauseMs === undefined) return undefined;
  return Math.round(pauseMs * (1 + JITTER_SHARE * (2 * random - 1)));
}
