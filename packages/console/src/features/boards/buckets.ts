import { DAY_S, instantOf, wallTime } from '../../timezone.js';

const SIZE = /^([1-9]\d*)([smhd])$/;
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: DAY_S };
/** Weeks begin on Monday: 1970-01-05. */
const MONDAY_S = 4 * DAY_S;

/** Seconds of a bucket size as it is answered: `15m`, `1d`; undefined for `none`. */
export function bucketSeconds(size: string): number | undefined {
  const [, digits, unit = ''] = SIZE.exec(size) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNIT_S[unit] ?? 0);
}

/** A bucket size for people: `1 h`. */
export function bucketLabel(size: string): string {
  const [, digits = '', unit = ''] = SIZE.exec(size) ?? [];
  return `${digits} ${unit === 'm' ? 'min' : unit}`;
}

/** A stretch of buckets that are counted from its start: a local day, or one bucket of days. */
interface Stretch {
  readonly startS: number;
  readonly endS: number;
}

/**
 * The starts of all buckets that hold some of the range, ascending, as the service cuts them: those shorter than a day
 * count from local midnight on, and the last of a day ends with it; longer ones count by the calendar from a Monday on.
 */
export function bucketStarts(fromS: number, toS: number, sizeS: number, timezone: string): number[] {
  const starts: number[] = [];
  let stretch = stretchAt(fromS, sizeS, timezone);
  let startS = stretch.startS + Math.floor((fromS - stretch.startS) / sizeS) * sizeS;
  if (sizeS >= DAY_S) startS = stretch.startS;
  while (startS < toS) {
    starts.push(startS);
    startS += sizeS;
    if (sizeS >= DAY_S || startS >= stretch.endS) {
      startS = stretch.endS;
      stretch = stretchAt(startS, sizeS, timezone);
    }
  }
  return starts;
}

/** Where the bucket that begins at `startS` ends. */
export function bucketEnd(startS: number, sizeS: number, timezone: string): number {
  const { endS } = stretchAt(startS, sizeS, timezone);
  return sizeS >= DAY_S ? endS : Math.min(startS + sizeS, endS);
}

function stretchAt(unixS: number, sizeS: number, timezone: string): Stretch {
  const lengthS = Math.max(sizeS, DAY_S);
  let index = Math.floor((wallTime(unixS, timezone) - MONDAY_S) / lengthS);
  const startOf = (at: number) => rememberedInstant(MONDAY_S + at * lengthS, timezone);
  // Where a clock is set back over midnight, the new day goes on.
  while (startOf(index + 1) <= unixS) index++;
  while (startOf(index) > unixS) index--;
  return { startS: startOf(index), endS: startOf(index + 1) };
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
