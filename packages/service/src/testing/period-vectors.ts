import { existsSync, readFileSync } from 'node:fs';

const OF_OTHERS = new URL('../../../../../shared/vectors/windows.json', import.meta.url);

/** Fields of an instant in UTC; months count from 1. */
type Fields = Readonly<Partial<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>>;

/** The period that contains an instant. Unix seconds. */
export interface PeriodVector {
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

/** Changes of clocks and ends of months. */
export const PERIOD_VECTORS: readonly PeriodVector[] = [
  // The clocks of New York go forward on 8 March 2026, and back on 1 November 2026.
  {
    o: 'a day of 23 hours',
    period: 'day',
    tz: 'America/New_York',
    at: 1_772_980_000,
    start: 1_772_946_000,
    end: 1_773_028_800,
  },
  {
    o: 'a day of 25 hours',
    period: 'day',
    tz: 'America/New_York',
    at: 1_793_520_000,
    start: 1_793_505_600,
    end: 1_793_595_600,
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
];

/** Cases of other products, if the file exists: changes of clocks, and ends of months. */
export function periodVectorsOfOthers(): readonly PeriodVector[] {
  if (!existsSync(OF_OTHERS)) return [];
  return (JSON.parse(readFileSync(OF_OTHERS, 'utf8')) as { cases: PeriodVector[] }).cases;
}

/** Whether a period is that of the vector. Unix seconds; without an end, the period is endless. */
export function isPeriodOf(
  { start, end, startFields, endFields }: PeriodVector,
  startS: number,
  endS: number | undefined,
): boolean {
  return (
    (start === undefined || start === startS) &&
    (end === undefined || end === endS) &&
    hasFields(startS, startFields) &&
    hasFields(endS, endFields)
  );
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
