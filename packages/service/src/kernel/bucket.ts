import { ANALYSIS_POINTS_MAX } from '@tollgate/contract';
import { DAY_S, zoneOf } from './timezone.js';

export { isTimezone } from './timezone.js';

/*
 * Buckets cut time into the points of a chart, aligned to the local calendar of a timezone:
 * - one shorter than a day is counted in elapsed time from the start of its local day, and the last of a day ends with
 *   the day, so that a day of 23 or 25 hours, or a size that does not divide a day, leaves no gap and no overlap;
 * - one of a day or more is counted in wall time from Monday 1970-01-05 00:00, so that 7d is the week from Monday.
 * All times are Unix seconds; ranges include `fromS` and exclude `toS`.
 */

const MINUTE_S = 60;
const HOUR_S = 3_600;
const WEEK_S = 7 * DAY_S;
const MONDAY_S = 4 * DAY_S;
const BUCKET_SIZE_S_MAX = 3_650 * DAY_S;
/** More starts than any chart has points; a list of them is refused past it. */
const BUCKET_STARTS_MAX = 100_000;

/** The sizes that a too small bucket is raised to, in seconds: 1m 5m 15m 30m 1h 2h 4h 6h 12h 1d 7d. */
export const BUCKET_LADDER_S: readonly number[] = [
  MINUTE_S,
  5 * MINUTE_S,
  15 * MINUTE_S,
  30 * MINUTE_S,
  HOUR_S,
  2 * HOUR_S,
  4 * HOUR_S,
  6 * HOUR_S,
  12 * HOUR_S,
  DAY_S,
  WEEK_S,
];

const UNITS_S = { d: DAY_S, h: HOUR_S, m: MINUTE_S, s: 1 } as const;
type Unit = keyof typeof UNITS_S;

/** Seconds of a positive duration such as `90s`, `15m`, `2h`, `3d`, up to ten years; undefined for anything else. */
export function parseBucketSize(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(text);
  if (match === null) return undefined;
  const sizeS = Number(match[1]) * UNITS_S[match[2] as Unit];
  return sizeS <= BUCKET_SIZE_S_MAX ? sizeS : undefined;
}

/** The duration in its largest whole unit: 3600 is `1h`, 5400 is `90m`, 604800 is `7d`. */
export function formatBucketSize(sizeS: number): string {
  assertSize(sizeS);
  for (const [unit, unitS] of Object.entries(UNITS_S)) {
    if (sizeS % unitS === 0) return `${sizeS / unitS}${unit}`;
  }
  return `${sizeS}s`;
}

/**
 * The bucket size for a range that names none, by the table of the interface. A local calendar day is the step to
 * the same wall time of the next date, which takes 23 to 25 hours.
 */
export function automaticBucket(fromS: number, toS: number, timezone: string): number {
  const zone = zoneOf(timezone);
  if (toS - fromS <= HOUR_S) return MINUTE_S;
  const afterDays = (days: number) => zone.instantOf(zone.wallTime(fromS) + days * DAY_S);
  if (toS < afterDays(1)) return 15 * MINUTE_S;
  if (toS <= afterDays(10)) return HOUR_S;
  if (toS <= afterDays(21)) return 2 * HOUR_S;
  return 4 * HOUR_S;
}

/**
 * The size itself, or, when it would cut the range into more than 1,500 points or not into whole minutes, the next of
 * the ladder that does not; past the ladder, whole weeks.
 */
export function raiseBucket(sizeS: number, fromS: number, toS: number, timezone: string): number {
  assertSize(sizeS);
  if (isDrawable(sizeS, fromS, toS, timezone)) return sizeS;
  for (const stepS of BUCKET_LADDER_S) {
    if (stepS > sizeS && isDrawable(stepS, fromS, toS, timezone)) return stepS;
  }
  let weeksS = Math.ceil(Math.max(sizeS, (toS - fromS) / ANALYSIS_POINTS_MAX) / WEEK_S) * WEEK_S;
  while (!isDrawable(weeksS, fromS, toS, timezone)) weeksS += WEEK_S;
  return weeksS;
}

/** History is kept by the minute, so a bucket is made of whole minutes. */
function isDrawable(sizeS: number, fromS: number, toS: number, timezone: string): boolean {
  if (sizeS % MINUTE_S !== 0) return false;
  // Spares counting the points of sizes that are far too small.
  if ((toS - fromS) / sizeS > ANALYSIS_POINTS_MAX + 1) return false;
  return countBuckets(sizeS, fromS, toS, timezone) <= ANALYSIS_POINTS_MAX;
}

function countBuckets(sizeS: number, fromS: number, toS: number, timezone: string): number {
  const zone = zoneOf(timezone);
  let count = 0;
  let atS = fromS;
  while (atS < toS) {
    if (sizeS < DAY_S) {
      const dayS = zone.dayStart(atS);
      const nextDayS = zone.nextDayStart(atS);
      const lastS = Math.min(toS, nextDayS) - 1;
      count += Math.floor((lastS - dayS) / sizeS) - Math.floor((atS - dayS) / sizeS) + 1;
      atS = nextDayS;
    } else {
      count++;
      atS = nextBucketStart(atS, sizeS, timezone);
    }
  }
  return count;
}

/**
 * The start of the bucket that holds the instant.
 * @throws RangeError for what is no timezone or no size, and for times outside 1902 to 2242
 */
export function bucketStart(atS: number, sizeS: number, timezone: string): number {
  assertSize(sizeS);
  const zone = zoneOf(timezone);
  if (sizeS === DAY_S) return zone.dayStart(atS);
  if (sizeS > DAY_S) return zone.periodStart(atS, sizeS, MONDAY_S);
  const dayS = zone.dayStart(atS);
  return dayS + Math.floor((atS - dayS) / sizeS) * sizeS;
}

/** The start of the bucket after the one that holds the instant, which is where that one ends. */
export function nextBucketStart(atS: number, sizeS: number, timezone: string): number {
  assertSize(sizeS);
  const zone = zoneOf(timezone);
  if (sizeS >= DAY_S) return zone.nextPeriodStart(atS, sizeS, MONDAY_S);
  return Math.min(bucketStart(atS, sizeS, timezone) + sizeS, zone.nextDayStart(atS));
}

/**
 * The starts of all buckets that hold some of the range, rising. The first may lie before `fromS`.
 * @throws RangeError past 100,000
 */
export function bucketStarts(fromS: number, toS: number, sizeS: number, timezone: string): number[] {
  const starts: number[] = [];
  if (fromS >= toS) return starts;
  for (let atS = bucketStart(fromS, sizeS, timezone); atS < toS; ) {
    if (starts.length === BUCKET_STARTS_MAX) throw new RangeError('the range has too many buckets');
    starts.push(atS);
    atS = nextBucketStart(atS, sizeS, timezone);
  }
  return starts;
}

function assertSize(sizeS: number): void {
  if (!Number.isInteger(sizeS) || sizeS < 1) throw new RangeError(`${sizeS} seconds are no bucket size`);
}
