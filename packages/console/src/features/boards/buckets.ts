import { DAY_S, instantOf, wallTime } from '../../timezone.js';

const SIZE = /^([1-9]\d*)(s|m|h|d|mo)$/;
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: DAY_S };
const UNIT_LABELS: Readonly<Record<string, string>> = { m: 'min' };
/** Weeks begin on Monday: 1970-01-05. */
const MONDAY_S = 4 * DAY_S;

/** The length of a bucket: seconds, or calendar months of its timezone. */
export type BucketSize = number | { readonly months: number };

/** A bucket size as it is answered: `15m`, `1d`, `1mo`; undefined for `none`. */
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

/** A stretch of time in which buckets are counted from its start: a local day, or one bucket of days or months. */
interface Stretch {
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
  let stretch = stretchAt(fromS, size, timezone);
  let startS = stretch.startS;
  if (isWithinDay(size)) startS += Math.floor((fromS - startS) / size) * size;
  while (startS < toS) {
    starts.push(startS);
    startS = isWithinDay(size) ? Math.min(startS + size, stretch.endS) : stretch.endS;
    if (startS >= stretch.endS) stretch = stretchAt(startS, size, timezone);
  }
  return starts;
}

/** Where the bucket that begins at `startS` ends. */
export function bucketEnd(startS: number, size: BucketSize, timezone: string): number {
  const { endS } = stretchAt(startS, size, timezone);
  return isWithinDay(size) ? Math.min(startS + size, endS) : endS;
}

function isWithinDay(size: BucketSize): size is number {
  return typeof size === 'number' && size < DAY_S;
}

/** The calendar month of a timezone that a moment lies in, and those `later` or before it. */
export function monthAt(unixS: number, timezone: string, later = 0): Stretch {
  const index = monthIndex(unixS, timezone) + later;
  return { startS: monthStart(index, timezone), endS: monthStart(index + 1, timezone) };
}

function stretchAt(unixS: number, size: BucketSize, timezone: string): Stretch {
  if (typeof size === 'number') return daysAt(unixS, Math.max(size, DAY_S), timezone);
  const first = Math.floor(monthIndex(unixS, timezone) / size.months) * size.months;
  return { startS: monthStart(first, timezone), endS: monthStart(first + size.months, timezone) };
}

function daysAt(unixS: number, lengthS: number, timezone: string): Stretch {
  let index = Math.floor((wallTime(unixS, timezone) - MONDAY_S) / lengthS);
  const startOf = (at: number) => rememberedInstant(MONDAY_S + at * lengthS, timezone);
  // Where a clock is set back over midnight, the new day goes on.
  while (startOf(index + 1) <= unixS) index++;
  while (startOf(index) > unixS) index--;
  return { startS: startOf(index), endS: startOf(index + 1) };
}

/** Months since January 1970. */
function monthIndex(unixS: number, timezone: string): number {
  const date = new Date(wallTime(unixS, timezone) * 1_000);
  let index = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  // If a clock is set back over the end of a month, the new month continues.
  while (monthStart(index + 1, timezone) <= unixS) index++;
  return index;
}

function monthStart(index: number, timezone: string): number {
  return rememberedInstant(Date.UTC(1970, index) / 1_000, timezone);
}

/** The same few midnights are asked for whenever a chart moves on, and the browser takes its time to tell them. */
const instants = new Map<string, number>();
const INSTANTS_MAX = 20_000;

function rememberedInstant(wallS: number, timezone: string): number {
  const key = `${wallS} ${timezone}`;
  let instant = instants.get(key);
  if (instant === undefined) {
    if (instants.size >= INSTANTS_MAX) instants.clear();
    instant = instantOf(wallS, timezone);
    instants.set(key, instant);
  }
  return instant;
}
