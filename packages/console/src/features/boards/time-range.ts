import { BOARD_TIME_RANGES_S } from '@tollgate/contract';
import { count, dateMinute } from '../../format.js';
import { monthAt } from './buckets.js';

/** The last N seconds, or a fixed range in Unix seconds, `to` exclusive. */
export type TimeRange = { readonly last_seconds: number } | { readonly from: number; readonly to: number };

/** The chosen range: a time range, or a calendar month in the board's timezone. */
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

/** Latest supported time: the limit of 32 bits. */
const UNIX_S_MAX = 4_294_967_295;

/** Resolves a choice at a moment. This month includes its remaining days. */
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

/** A duration in words: `16 hours 29 minutes`, or just `minute` for a single unit. */
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

/** Reads the range from the address; undefined if it has none or an invalid one. */
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

/** The bounds of a range at a moment. A relative range has no end. */
export function rangeBounds(range: TimeRange, nowS: number): { readonly from: number; readonly to?: number } {
  return 'from' in range ? range : { from: Math.max(nowS - range.last_seconds, 0) };
}

function seconds(text: string | null): number | undefined {
  if (text === null || !/^\d{1,10}$/.test(text)) return undefined;
  return Number(text) <= UNIX_S_MAX ? Number(text) : undefined;
}

/** The validation error of a custom range; undefined if it is valid. */
export function rangeProblem(from: number | undefined, to: number | undefined): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  if (from < 0 || to > UNIX_S_MAX) return 'Choose times from 1970 to 2106.';
  return from < to ? undefined : 'The end must be after the start.';
}
