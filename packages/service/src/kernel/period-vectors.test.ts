import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseCounterPeriod, windowAt } from './period.js';
import { present } from './present.js';

const VECTORS = new URL('../../../../../shared/vectors/windows.json', import.meta.url);

/** Fields of an instant in UTC; months count from 1. */
type Fields = Readonly<Partial<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>>;

/** The period that contains an instant. Unix seconds. */
interface Vector {
  readonly o: string;
  readonly period: string;
  readonly tz: string;
  readonly anchor?: number;
  readonly at: number;
  readonly start?: number;
  readonly end?: number;
  readonly startFields?: Fields;
  readonly endFields?: Fields;
}

function vectors(): readonly Vector[] {
  if (!existsSync(VECTORS)) return [];
  return (JSON.parse(readFileSync(VECTORS, 'utf8')) as { cases: Vector[] }).cases;
}

function hasFields(atS: number | undefined, fields: Fields = {}): boolean {
  const date = new Date((atS ?? Number.NaN) * 1_000);
  const found: Required<Fields> = {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
  return Object.entries(fields).every(([name, value]) => found[name as keyof Fields] === value);
}

function isAsWanted({ period, tz, anchor = 0, at, start, end, startFields, endFields }: Vector): boolean {
  const settings = { timezone: tz, anchorS: anchor, weekStart: 'monday' as const };
  const { startS, endS } = windowAt(present(parseCounterPeriod(period), period), settings, at);
  return (
    (start === undefined || start === startS) &&
    (end === undefined || end === endS) &&
    hasFields(startS, startFields) &&
    hasFields(endS, endFields)
  );
}

it.each<Vector>([
  // The clocks of New York go forward on 8 March 2026.
  {
    o: 'a day of 23 hours',
    period: 'day',
    tz: 'America/New_York',
    at: 1_772_980_000,
    start: 1_772_946_000,
    end: 1_773_028_800,
  },
  // 31 January, then the last day of February.
  {
    o: 'a month that begins on its last day',
    period: '1 month',
    tz: 'UTC',
    anchor: 1_769_817_600,
    at: 1_773_000_000,
    start: 1_772_236_800,
    end: 1_774_915_200,
  },
])('$o', (vector) => {
  expect(isAsWanted(vector)).toBe(true);
});

/** Cases of other products, if the file exists: changes of clocks, and ends of months. */
it('divides time into periods as others do', () => {
  expect(vectors().filter((vector) => !isAsWanted(vector))).toEqual([]);
});
