import { DAY_S, zoneOf } from '@tollgate/timezone';

const SIZE = /^([1-9]\d*)(s|m|h|d|mo)$/;
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: DAY_S };
const UNIT_LABELS: Readonly<Record<string, string>> = { m: 'min' };
/** Weeks begin on Monday: 1970-01-05. */
const MONDAY_S = 4 * DAY_S;

/** The length of a bucket: seconds, or calendar months of its timezone. */
export type BucketSize = number | { readonly months: number };

/** Parses a bucket size of a response: `15m`, `1d`, `1mo`; undefined for `none`. */
export function bucketSizeOf(text: string): BucketSize | undefined {
  const [, digits, unit = ''] = SIZE.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return unit === 'mo' ? { months: Number(digits) } : Number(digits) * (UNIT_S[unit] ?? 0);
}

/** A bucket size for people: `1 h`, `1 month`. */
export function bucketLabel(size: string): string {
  const [, digits = '', unit = ''] = SIZE.exec(size) ?? [];
  if (unit === 'mo') return digits === '1' ? '1 month' : `${digits} months`;
  return `${digits} ${UNIT_LABELS[unit] ?? unit}`;
}

/** An interval from whose start buckets are counted: a local day, or one bucket of days or months. */
interface Interval {
  readonly startS: number;
  readonly endS: number;
}

/**
 * The starts of all buckets that overlap the range, ascending, as the service computes them. Buckets shorter than a day
 * start at local midnight, and the last one of a day ends with it. Longer ones follow the calendar: days are counted
 * from a Monday, months from January 1970.
 */
export function bucketStarts(fromS: number, toS: number, size: BucketSize, timezone: string): number[] {
  const starts: number[] = [];
  let interval = intervalAt(fromS, size, timezone);
  let startS = interval.startS;
  if (isWithinDay(size)) startS += Math.floor((fromS - startS) / size) * size;
  while (startS < toS) {
    starts.push(startS);
    startS = isWithinDay(size) ? Math.min(startS + size, interval.endS) : interval.endS;
    if (startS >= interval.endS) interval = intervalAt(startS, size, timezone);
  }
  return starts;
}

/** The end of the bucket that starts at `startS`. */
export function bucketEnd(startS: number, size: BucketSize, timezone: string): number {
  const { endS } = intervalAt(startS, size, timezone);
  return isWithinDay(size) ? Math.min(startS + size, endS) : endS;
}

function isWithinDay(size: BucketSize): size is number {
  return typeof size === 'number' && size < DAY_S;
}

/** The calendar month of a moment in a timezone, shifted by `later` months. */
export function monthAt(unixS: number, timezone: string, later = 0): Interval {
  const index = monthIndex(unixS, timezone) + later;
  return { startS: monthStart(index, timezone), endS: monthStart(index + 1, timezone) };
}

function intervalAt(unixS: number, size: BucketSize, timezone: string): Interval {
  if (typeof size === 'number') return daysAt(unixS, Math.max(size, DAY_S), timezone);
  const first = Math.floor(monthIndex(unixS, timezone) / size.months) * size.months;
  return { startS: monthStart(first, timezone), endS: monthStart(first + size.months, timezone) };
}

function daysAt(unixS: number, lengthS: number, timezone: string): Interval {
  const zone = zoneOf(timezone);
  let index = Math.floor((zone.wallTime(unixS) - MONDAY_S) / lengthS);
  const startOf = (at: number) => zone.instantOf(MONDAY_S + at * lengthS);
  // If a clock is set back over midnight, the new day continues.
  while (startOf(index + 1) <= unixS) index++;
  while (startOf(index) > unixS) index--;
  return { startS: startOf(index), endS: startOf(index + 1) };
}

/** Months since January 1970. */
function monthIndex(unixS: number, timezone: string): number {
  const date = new Date(zoneOf(timezone).wallTime(unixS) * 1_000);
  let index = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  // If a clock is set back over the end of a month, the new month continues.
  while (monthStart(index + 1, timezone) <= unixS) index++;
  return index;
}

function monthStart(index: number, timezone: string): number {
  return zoneOf(timezone).instantOf(Date.UTC(1970, index) / 1_000);
}
