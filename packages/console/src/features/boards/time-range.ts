import { BOARD_TIME_RANGES_S } from '@tollgate/contract';
import { count, dateMinute } from '../../format.js';
import { monthAt } from './buckets.js';

/** The last so many seconds up to now, or a stretch of time: Unix seconds, `to` exclusive. */
export type TimeRange = { readonly last_seconds: number } | { readonly from: number; readonly to: number };

/** A range that is chosen: one that is asked for as it is, or a calendar month by the clock of the board. */
export type RangeChoice = TimeRange | { readonly month: MonthName };
type MonthName = 'this' | 'last';

export const MONTHS = [
  { month: 'this', label: 'This month' },
  { month: 'last', label: 'Last month' },
] as const;

const LABELS: Readonly<Record<(typeof BOARD_TIME_RANGES_S)[number], string>> = {
  300: 'Last 5 minutes',
  900: 'Last 15 minutes',
  3600: 'Last hour',
  86400: 'Last 24 hours',
  604800: 'Last 7 days',
  2592000: 'Last 30 days',
};

export const PRESETS = BOARD_TIME_RANGES_S.map((seconds) => ({ seconds, label: LABELS[seconds] }));

/** Latest moment that can be asked for: what 32 bits hold. */
const UNIX_S_MAX = 4_294_967_295;

/** The range that a choice means at a moment. This month is whole, with the days of it that are to come. */
export function rangeAt(choice: RangeChoice, nowS: number, timezone: string): TimeRange {
  if (!('month' in choice)) return choice;
  const { startS, endS } = monthAt(nowS, timezone, choice.month === 'last' ? -1 : 0);
  return { from: startS, to: endS };
}

export function rangeLabel(range: RangeChoice, timezone: string): string {
  if ('month' in range) return MONTHS.find(({ month }) => month === range.month)?.label ?? '';
  if ('from' in range) return `${dateMinute(range.from, timezone)} to ${dateMinute(range.to, timezone)}`;
  return (
    PRESETS.find(({ seconds }) => seconds === range.last_seconds)?.label ??
    `Last ${durationWords(range.last_seconds)}`
  );
}

const UNITS = [
  { unit: 'day', lengthS: 86_400 },
  { unit: 'hour', lengthS: 3_600 },
  { unit: 'minute', lengthS: 60 },
  { unit: 'second', lengthS: 1 },
] as const;

/** All of a duration, as people say it: `16 hours 29 minutes`, and of one alone `minute`. */
function durationWords(durationS: number): string {
  let restS = durationS;
  const parts = UNITS.flatMap(({ unit, lengthS }) => {
    const units = Math.floor(restS / lengthS);
    restS -= units * lengthS;
    if (units === 0) return [];
    if (units === 1) return durationS === lengthS ? [unit] : [`1 ${unit}`];
    return [`${count(units)} ${unit}s`];
  });
  return parts.join(' ');
}

/** The range that an address names; undefined when it names none, or one that cannot be. */
export function rangeOf(address: URLSearchParams): RangeChoice | undefined {
  const named = MONTHS.find(({ month }) => month === address.get('month'));
  if (named !== undefined) return { month: named.month };
  const [last, from, to] = ['last', 'from', 'to'].map((name) => seconds(address.get(name)));
  if (last !== undefined && last > 0) return { last_seconds: last };
  return from !== undefined && to !== undefined && from < to ? { from, to } : undefined;
}

export function addressOf(range: RangeChoice): Record<string, string> {
  if ('month' in range) return { month: range.month };
  if ('from' in range) return { from: String(range.from), to: String(range.to) };
  return { last: String(range.last_seconds) };
}

/** The seconds that a range means at a moment; without an end where it ends with the clock. */
export function rangeBounds(range: TimeRange, nowS: number): { readonly from: number; readonly to?: number } {
  return 'from' in range ? range : { from: Math.max(nowS - range.last_seconds, 0) };
}

function seconds(text: string | null): number | undefined {
  if (text === null || !/^\d{1,10}$/.test(text)) return undefined;
  return Number(text) <= UNIX_S_MAX ? Number(text) : undefined;
}

/** What is wrong with a range that was typed: undefined for nothing. */
export function rangeProblem(from: number | undefined, to: number | undefined): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  if (from < 0 || to > UNIX_S_MAX) return 'Choose times from 1970 to 2106.';
  return from < to ? undefined : 'The end lies before the start.';
}
