import { ANALYSIS_POINTS_MAX } from '@tollgate/contract';
import { DAY_S, zoneOf } from '@tollgate/timezone';
import { calendarMonthsAt } from './period.js';

export { isTimezone } from '@tollgate/timezone';

/*
 * Buckets cut time into the points of a chart, aligned to the local calendar of a timezone:
 * - one shorter than a day is counted in elapsed time from the start of its local day, and the last of a day ends with
 *   the day, so that a day of 23 or 25 hours, or a size that does not divide a day, leaves no gap and no overlap;
 * - one of a day or more is counted in wall time from Monday 1970-01-05 00:00, so that 7d is the week from Monday;
 * - one of months is counted in calendar months from January 1970, so that 12mo is the year.
 * All times are Unix seconds; ranges include `fromS` and exclude `toS`.
 */

const MINUTE_S = 60;
const HOUR_S = 3_600;
const WEEK_S = 7 * DAY_S;
const MONDAY_S = 4 * DAY_S;
const BUCKET_SIZE_S_MAX = 3_650 * DAY_S;
/** Upper bound of a bucket in months: ten years, as for one in seconds. */
const BUCKET_MONTHS_MAX = 120;
/** Average length of a month: 400 years have 4,800 months. */
const MONTH_S = (146_097 * DAY_S) / 4_800;
/** More starts than any chart has points; a longer list is refused. */
const BUCKET_STARTS_MAX = 100_000;

/** The length of a bucket: seconds, or calendar months of its timezone. */
export type BucketSize = number | { readonly months: number };

/** The sizes to which a bucket that is too small is raised: 1m 5m 15m 30m 1h 2h 4h 6h 12h 1d 7d 1mo. */
export const BUCKET_LADDER: readonly BucketSize[] = [
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
  { months: 1 },
];

const UNITS_S = { d: DAY_S, h: HOUR_S, m: MINUTE_S, s: 1 } as const;
type Unit = keyof typeof UNITS_S;

/** Reads a positive duration such as `90s`, `15m`, `2h`, `3d`, `1mo`, up to ten years; undefined for anything else. */
export function parseBucketSize(text: string): BucketSize | undefined {
  const [, digits] = /^([1-9][0-9]{0,2})mo$/.exec(text) ?? [];
  if (digits !== undefined) {
    const months = Number(digits);
    return months <= BUCKET_MONTHS_MAX ? { months } : undefined;
  }
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(text);
  if (match === null) return undefined;
  const sizeS = Number(match[1]) * UNITS_S[match[2] as Unit];
  return sizeS <= BUCKET_SIZE_S_MAX ? sizeS : undefined;
}

/** Formats a duration in its largest whole unit: 3600 is `1h`, 5400 is `90m`, 604800 is `7d`; months are `1mo`. */
export function formatBucketSize(size: BucketSize): string {
  assertSize(size);
  if (typeof size !== 'number') return `${size.months}mo`;
  const sizeS = size;
  for (const [unit, unitS] of Object.entries(UNITS_S)) {
    if (sizeS % unitS === 0) return `${sizeS / unitS}${unit}`;
  }
  return `${sizeS}s`;
}

/**
 * Returns the default bucket size for a range, by the table of the API. A local calendar day is the step to the same
 * wall time of the next date, which takes 23 to 25 hours.
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
 * Returns the size or, if it would divide the range into more than 1,500 points or not into whole minutes, the next
 * size of the ladder that does not; beyond the ladder, as many months as needed.
 */
export function raiseBucket(size: BucketSize, fromS: number, toS: number, timezone: string): BucketSize {
  assertSize(size);
  if (isDrawable(size, fromS, toS, timezone)) return size;
  const sizeS = usualLengthS(size);
  for (const step of BUCKET_LADDER) {
    if (usualLengthS(step) > sizeS && isDrawable(step, fromS, toS, timezone)) return step;
  }
  let months = Math.ceil(Math.max(sizeS, (toS - fromS) / ANALYSIS_POINTS_MAX) / MONTH_S);
  while (!isDrawable({ months }, fromS, toS, timezone)) months++;
  return { months };
}

function usualLengthS(size: BucketSize): number {
  return typeof size === 'number' ? size : size.months * MONTH_S;
}

/**
 * Whether a chart can be drawn with this size. History is kept by the minute, so a bucket consists of whole minutes.
 */
function isDrawable(size: BucketSize, fromS: number, toS: number, timezone: string): boolean {
  if (typeof size === 'number' && size % MINUTE_S !== 0) return false;
  // Avoids counting the points of sizes that are far too small. The margin covers months of unusual length.
  if ((toS - fromS) / usualLengthS(size) > ANALYSIS_POINTS_MAX + 2) return false;
  return countBuckets(size, fromS, toS, timezone) <= ANALYSIS_POINTS_MAX;
}

function countBuckets(size: BucketSize, fromS: number, toS: number, timezone: string): number {
  const zone = zoneOf(timezone);
  let count = 0;
  let atS = fromS;
  while (atS < toS) {
    if (typeof size === 'number' && size < DAY_S) {
      const dayS = zone.dayStart(atS);
      const nextDayS = zone.nextDayStart(atS);
      const lastS = Math.min(toS, nextDayS) - 1;
      count += Math.floor((lastS - dayS) / size) - Math.floor((atS - dayS) / size) + 1;
      atS = nextDayS;
    } else {
      count++;
      atS = nextBucketStart(atS, size, timezone);
    }
  }
  return count;
}

/**
 * Returns the start of the bucket that contains the instant.
 * @throws RangeError for an invalid timezone or size, and for times outside 1902 to 2242
 */
export function bucketStart(atS: number, size: BucketSize, timezone: string): number {
  assertSize(size);
  const zone = zoneOf(timezone);
  if (typeof size !== 'number') return calendarMonthsAt(zone, size.months, atS).startS;
  if (size === DAY_S) return zone.dayStart(atS);
  if (size > DAY_S) return zone.periodStart(atS, size, MONDAY_S);
  const dayS = zone.dayStart(atS);
  return dayS + Math.floor((atS - dayS) / size) * size;
}

/** Returns the start of the next bucket, which is the end of the one that contains the instant. */
export function nextBucketStart(atS: number, size: BucketSize, timezone: string): number {
  assertSize(size);
  const zone = zoneOf(timezone);
  if (typeof size !== 'number') return calendarMonthsAt(zone, size.months, atS).endS;
  if (size >= DAY_S) return zone.nextPeriodStart(atS, size, MONDAY_S);
  return Math.min(bucketStart(atS, size, timezone) + size, zone.nextDayStart(atS));
}

/**
 * Returns the starts of all buckets that overlap the range, ascending. The first may lie before `fromS`.
 * @throws RangeError for more than 100,000
 */
export function bucketStarts(fromS: number, toS: number, size: BucketSize, timezone: string): number[] {
  const starts: number[] = [];
  if (fromS >= toS) return starts;
  for (let atS = bucketStart(fromS, size, timezone); atS < toS; ) {
    if (starts.length === BUCKET_STARTS_MAX) throw new RangeError('the range has too many buckets');
    starts.push(atS);
    atS = nextBucketStart(atS, size, timezone);
  }
  return starts;
}

function assertSize(size: BucketSize): void {
  const [count, unit] = typeof size === 'number' ? [size, 'seconds'] : [size.months, 'months'];
  if (!Number.isInteger(count) || count < 1) throw new RangeError(`${count} ${unit} is not a bucket size`);
}
