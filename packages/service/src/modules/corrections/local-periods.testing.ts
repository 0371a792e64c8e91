import fc from 'fast-check';

/** The settings of those who have periods: a subject, an account, or the project. */
export interface LocalSettings {
  readonly timezone: string;
  readonly weekStart: 'monday' | 'sunday';
  /** Unix seconds. */
  readonly anchorS: number;
}

export const UTC_SETTINGS: LocalSettings = { timezone: 'UTC', weekStart: 'monday', anchorS: 0 };

/** Periods of the calendar, and two that are counted from an anchor. */
export const LOCAL_PERIODS = ['day', 'week', 'month', 'year', '7d', '1 month'] as const;
export type LocalPeriod = (typeof LOCAL_PERIODS)[number];

const DAY_S = 86_400;
/** 1970-01-05 and 1970-01-04. */
const FIRST_WEEK_DAYS = { monday: 4, sunday: 3 };

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns what local clocks show at an instant, as if it were UTC, in seconds. */
function wallS(timezone: string, atS: number): number {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: timezone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  formats.set(timezone, format);
  const parts = format.formatToParts(atS * 1_000);
  const [year = 0, month = 0, ...rest] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((name) =>
    Number(parts.find(({ type }) => type === name)?.value),
  );
  return Date.UTC(year, month - 1, ...rest) / 1_000;
}

/** Returns the number of the month, counted from the anchor, that begins last before a local time. */
function monthFrom(anchorWallS: number, atWallS: number): number {
  const anchor = new Date(anchorWallS * 1_000);
  const at = new Date(atWallS * 1_000);
  const month = at.getUTCFullYear() * 12 + at.getUTCMonth();
  const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  const beginsAt = Math.min(anchor.getUTCDate(), lastDay) * DAY_S + (anchorWallS % DAY_S);
  return at.getUTCDate() * DAY_S + (atWallS % DAY_S) < beginsAt ? month - 1 : month;
}

/**
 * Returns a name of the period that contains an instant: instants have the same name if they lie in the same period.
 * It needs no start and no end, so it shares nothing with the way in which the service finds them.
 */
export function periodName(period: LocalPeriod, settings: LocalSettings, atS: number): string {
  const { timezone, weekStart, anchorS } = settings;
  const wall = wallS(timezone, atS);
  const date = new Date(wall * 1_000).toISOString();
  const anchorWall = wallS(timezone, anchorS);
  switch (period) {
    case 'day':
      return date.slice(0, 10);
    case 'week':
      return `week ${Math.floor((wall / DAY_S - FIRST_WEEK_DAYS[weekStart]) / 7)}`;
    case 'month':
      return date.slice(0, 7);
    case 'year':
      return date.slice(0, 4);
    case '7d':
      return `7 days ${Math.floor((wall - anchorWall) / (7 * DAY_S))}`;
    case '1 month':
      return `month ${monthFrom(anchorWall, wall)}`;
  }
}

/** Clocks change at 1, 2 and 3 o'clock, and in Santiago at midnight; in Lord Howe by half an hour. */
const TIMEZONES = [
  ...['America/New_York', 'America/Santiago', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe'],
];

/** Anchors at ends of months, at a time of day at which no clock changes. */
const ANCHORS = ['2025-01-31T12:34:56Z', '2024-02-29T12:34:56Z', '2026-04-30T12:34:56Z'];

export const anySettings: fc.Arbitrary<LocalSettings> = fc.record({
  timezone: fc.constantFrom(...TIMEZONES),
  weekStart: fc.constantFrom('monday', 'sunday'),
  anchorS: fc.constantFrom(...ANCHORS).map((text) => Date.parse(text) / 1_000),
});

/** Ends of months and years, and days on which clocks change, within a year before `TEST_NOW_S`. */
const EDGES = [
  ...['2025-10-05', '2025-10-26', '2025-11-02', '2026-01-01', '2026-02-28', '2026-03-01', '2026-03-08'],
  ...['2026-03-29', '2026-04-05', '2026-05-31', '2026-07-01', '2026-09-06'],
];
/** Seconds from midnight: the day before, the seconds at midnight, the hours at which clocks change, noon. */
const FROM_MIDNIGHT_S = [
  -DAY_S,
  -3_600,
  -1,
  0,
  1,
  3_600,
  7_199,
  7_200,
  10_799,
  10_800,
  45_295,
  45_296,
  DAY_S,
];

const anyTimezoneOf = (settings: readonly LocalSettings[]) =>
  fc.constantFrom(...settings.map(({ timezone }) => timezone));

/** Returns the local midnight with which an edge begins. */
function midnightS(edge: string, timezone: string): number {
  const utcS = Date.parse(edge) / 1_000;
  return utcS - (wallS(timezone, utcS) - utcS);
}

/** Returns some instants of the year before `TEST_NOW_S`, near to those at which periods of these settings begin. */
export function instantsNear(settings: readonly LocalSettings[]): fc.Arbitrary<number[]> {
  const instant = fc
    .tuple(fc.constantFrom(...EDGES), anyTimezoneOf(settings), fc.constantFrom(...FROM_MIDNIGHT_S))
    .map(([edge, timezone, fromMidnightS]) => midnightS(edge, timezone) + fromMidnightS);
  return fc.array(instant, { minLength: 2, maxLength: 6 });
}

const DAYS_AROUND = 15;
const HOURS_OF_DAY = [0, 1, 3, 7, 12, 18, 23];

/** Returns instants of the month around one edge: so many that periods begin after each change of clocks. */
export function instantsAround(settings: readonly LocalSettings[]): fc.Arbitrary<number[]> {
  const from = fc.tuple(
    fc.integer({ min: -DAYS_AROUND, max: DAYS_AROUND }),
    fc.constantFrom(...HOURS_OF_DAY),
  );
  return fc
    .tuple(
      fc.constantFrom(...EDGES),
      anyTimezoneOf(settings),
      fc.array(from, { minLength: 40, maxLength: 40 }),
    )
    .map(([edge, timezone, all]) =>
      all.map(([days, hours]) => midnightS(edge, timezone) + days * DAY_S + hours * 3_600),
    );
}
