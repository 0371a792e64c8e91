import { WEEK_STARTS, type WeekStart } from '@tollgate/contract';
import { DAY_S, type Zone, zoneOf } from '@tollgate/timezone';

/** How long a usage limit or a counter counts before it starts again. */
export type Period =
  | { readonly kind: 'lifetime' }
  /** A calendar unit, as the local clock shows it. */
  | { readonly kind: 'calendar'; readonly unit: CalendarUnit }
  /** A duration, counted from the anchor. */
  | { readonly kind: 'anchored'; readonly unit: DurationUnit; readonly count: number };

/** The period of a usage limit, or a window that usage determines. */
export type LimitPeriod = Period | UsageWindowPeriod;

/**
 * The window of a limit that usage determines: one that opens with the first usage after the last one has ended, or one
 * that ends now.
 */
export type UsageWindowPeriod =
  | { readonly kind: 'first_use'; readonly durationS: number }
  | { readonly kind: 'sliding'; readonly durationS: number };

export type CalendarUnit = DurationUnit | 'year';
type DurationUnit = 'minute' | 'hour' | 'day' | 'week' | 'month';

/** The settings of a route that determine its windows. */
export interface WindowSettings {
  /** IANA name. */
  readonly timezone: string;
  readonly weekStart: WeekStart;
  /** Unix seconds at which an anchored window starts. */
  readonly anchorS: number;
}

/** The periods of those who have no timezone and no anchor of their own. */
export const UTC_CALENDAR: WindowSettings = { timezone: 'UTC', weekStart: 'monday', anchorS: 0 };

/** Unix seconds; `endS` is exclusive, and undefined for a lifetime. */
export interface TimeWindow {
  readonly startS: number;
  readonly endS: number | undefined;
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
const WEEK_S = 7 * DAY_S;
const MONTHS_OF_YEAR = 12;
/** 1970-01-05, in wall time. */
const FIRST_MONDAY_S = 4 * DAY_S;
/** A lifetime counts from the Unix epoch. */
const LIFETIME: TimeWindow = { startS: 0, endS: undefined };

/** A year of minutes, and about ten years in each other unit; a longer period should be a lifetime. */
export const PERIOD_COUNT_MAX = { minute: 525_600, hour: 87_600, day: 3_650, week: 520, month: 120 } as const;

/** The calendar units of limits. */
const NAMED: Readonly<Record<string, DurationUnit>> = {
  minute: 'minute',
  hour: 'hour',
  day: 'day',
  week: 'week',
  month: 'month',
};

const UNITS: Readonly<Record<string, DurationUnit>> = {
  m: 'minute',
  minute: 'minute',
  minutes: 'minute',
  h: 'hour',
  hour: 'hour',
  hours: 'hour',
  d: 'day',
  day: 'day',
  days: 'day',
  w: 'week',
  week: 'week',
  weeks: 'week',
  month: 'month',
  months: 'month',
};

/**
 * Reads `minute`, `hour`, `day`, `week`, `month`, `lifetime`, or a duration such as `5m`, `5h`, `7d`, `2 week`,
 * `5 month`. Returns undefined for anything else. Months have no short form: `m` are minutes.
 */
export function parsePeriod(text: string): Period | undefined {
  if (text === 'lifetime') return { kind: 'lifetime' };
  const named = Object.hasOwn(NAMED, text) ? NAMED[text] : undefined;
  if (named !== undefined) return { kind: 'calendar', unit: named };
  const [, digits, name] = /^([1-9]\d{0,5}) ?([a-z]{1,7})$/.exec(text) ?? [];
  if (digits === undefined || name === undefined || !Object.hasOwn(UNITS, name)) return undefined;
  const unit = UNITS[name] as DurationUnit;
  const count = Number(digits);
  return count > PERIOD_COUNT_MAX[unit] ? undefined : { kind: 'anchored', unit, count };
}

/** Upper bounds of the durations of windows that usage determines, in days. */
export const USAGE_WINDOW_DAYS_MAX = { first_use: 365, sliding: 31 } as const;

/**
 * Reads a period, or the kind of a window and its duration in minutes, hours, days or weeks: `first_use:5h`,
 * `sliding:30m`. Returns undefined for anything else.
 */
export function parseLimitPeriod(text: string): LimitPeriod | undefined {
  const [, name, length = ''] = /^(first_use|sliding):(.+)$/.exec(text) ?? [];
  if (name === undefined) return parsePeriod(text);
  const kind = name as UsageWindowPeriod['kind'];
  const duration = parsePeriod(length);
  if (duration?.kind !== 'anchored' || duration.unit === 'month') return undefined;
  const durationS = duration.count * UNIT_SECONDS[duration.unit];
  return durationS > USAGE_WINDOW_DAYS_MAX[kind] * DAY_S ? undefined : { kind, durationS };
}

/** Returns one text for all ways to write the period of a limit. `parseLimitPeriod` reads it. */
export function canonicalLimitPeriod(period: LimitPeriod): string {
  return period.kind === 'first_use' || period.kind === 'sliding'
    ? `${period.kind}:${period.durationS / MINUTE_S}m`
    : canonicalPeriod(period);
}

const UNIT_SECONDS = { minute: MINUTE_S, hour: HOUR_S, day: DAY_S, week: WEEK_S } as const;

/** Reads the period of a counter: `year`, or a period of limits. Returns undefined for anything else. */
export function parseCounterPeriod(text: string): Period | undefined {
  return text === 'year' ? { kind: 'calendar', unit: 'year' } : parsePeriod(text);
}

/** Returns one text for all ways to write a period: `7d` for `7d`, `7 d` and `7 days`. `parsePeriod` reads it. */
export function canonicalPeriod(period: Period): string {
  if (period.kind === 'lifetime') return 'lifetime';
  return period.kind === 'calendar' ? period.unit : `${period.count}${SUFFIXES[period.unit]}`;
}

const SUFFIXES: Readonly<Record<DurationUnit, string>> = {
  minute: 'm',
  hour: 'h',
  day: 'd',
  week: 'w',
  month: ' month',
};

/**
 * Returns the window that contains an instant (Unix seconds). The windows of a period cover all time, also before the
 * anchor: each instant lies in exactly one, also when clocks change.
 * @throws RangeError unless the timezone is an IANA timezone
 */
export function windowAt(period: Period, settings: WindowSettings, atS: number): TimeWindow {
  if (period.kind === 'lifetime') return LIFETIME;
  const zone = zoneOf(settings.timezone);
  return period.kind === 'calendar'
    ? calendarWindow(period.unit, zone, settings, atS)
    : anchoredWindow(period, zone, settings.anchorS, atS);
}

/** Returns whether an instant (Unix seconds) lies in a window. */
export function windowContains({ startS, endS }: TimeWindow, atS: number): boolean {
  return atS >= startS && (endS === undefined || atS < endS);
}

function calendarWindow(
  unit: CalendarUnit,
  zone: Zone,
  { weekStart }: WindowSettings,
  atS: number,
): TimeWindow {
  switch (unit) {
    case 'minute':
      return zone.clockStepAt(atS, MINUTE_S);
    case 'hour':
      return zone.clockStepAt(atS, HOUR_S);
    case 'day':
      return { startS: zone.dayStart(atS), endS: zone.nextDayStart(atS) };
    case 'week': {
      const anchorS = FIRST_MONDAY_S + WEEK_STARTS.indexOf(weekStart) * DAY_S;
      return {
        startS: zone.periodStart(atS, WEEK_S, anchorS),
        endS: zone.nextPeriodStart(atS, WEEK_S, anchorS),
      };
    }
    case 'month':
      return calendarMonthsAt(zone, 1, atS);
    case 'year':
      return calendarMonthsAt(zone, MONTHS_OF_YEAR, atS);
  }
}

/** Days, weeks and months are steps of the anchor's local clock; minutes and hours are exact durations. */
function anchoredWindow(
  { unit, count }: Extract<Period, { kind: 'anchored' }>,
  zone: Zone,
  anchorS: number,
  atS: number,
): TimeWindow {
  if (unit === 'minute' || unit === 'hour') {
    const sizeS = count * (unit === 'minute' ? MINUTE_S : HOUR_S);
    const startS = anchorS + Math.floor((atS - anchorS) / sizeS) * sizeS;
    return { startS, endS: startS + sizeS };
  }
  const anchorWallS = zone.wallTime(anchorS);
  // A local time that occurs twice would move the anchor itself to its first occurrence.
  const boundary = (wallOf: (index: number) => number) => (index: number) =>
    index === 0 ? anchorS : zone.instantShowing(wallOf(index));
  const wallS = zone.wallTime(atS);
  if (unit === 'month') {
    const guess = Math.floor((monthOf(wallS) - monthOf(anchorWallS)) / count);
    return stepAt(
      boundary((index) => monthsLater(anchorWallS, index * count)),
      guess,
      atS,
    );
  }
  const sizeS = count * (unit === 'week' ? WEEK_S : DAY_S);
  return stepAt(
    boundary((index) => anchorWallS + index * sizeS),
    Math.floor((wallS - anchorWallS) / sizeS),
    atS,
  );
}

/** Returns the step that contains the instant, among steps with ascending boundaries; searches around a guess. */
function stepAt(
  boundary: (index: number) => number,
  guess: number,
  atS: number,
): { startS: number; endS: number } {
  let index = guess;
  while (boundary(index) > atS) index--;
  let startS = boundary(index);
  for (;;) {
    const endS = boundary(index + 1);
    if (endS > atS) return { startS, endS };
    startS = endS;
    index++;
  }
}

/**
 * Returns the calendar months of a timezone that contain an instant, `count` at a time: one, a quarter of a year, a
 * year. They are counted from January 1970 on.
 */
export function calendarMonthsAt(zone: Zone, count: number, atS: number): { startS: number; endS: number } {
  const guess = Math.floor(monthOf(zone.wallTime(atS)) / count);
  return stepAt((index) => zone.instantOf(monthsLater(0, index * count)), guess, atS);
}

/** Returns the months since January 1970 of a wall time. */
function monthOf(wallS: number): number {
  const date = new Date(wallS * 1_000);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** Returns the calendar month in UTC that contains an instant (Unix seconds). */
export function utcMonthAt(atS: number): { readonly startS: number; readonly endS: number } {
  const month = monthOf(atS);
  return { startS: monthsLater(0, month), endS: monthsLater(0, month + 1) };
}

/** Returns the same day and time of day `months` later; in a shorter month, its last day. */
export function monthsLater(wallS: number, months: number): number {
  const date = new Date(wallS * 1_000);
  const month = date.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), lastDay);
  const midnightS = Date.UTC(date.getUTCFullYear(), month, day) / 1_000;
  return midnightS + (((wallS % DAY_S) + DAY_S) % DAY_S);
}
