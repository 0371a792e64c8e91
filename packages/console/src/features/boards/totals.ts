import { exactSum, negated } from '../../exact-sum.js';
import { monthAt } from './buckets.js';
import type { ChartData } from './chart-data.js';
import type { SeriesSet } from './series.js';
import type { TimeRange } from './time-range.js';

/**
 * The period before a range: the month before a calendar month, otherwise the same length of time. A range that has not
 * ended is compared up to now, with as much of the period before.
 */
export function previousRange(range: TimeRange, atS: number, timezone: string): TimeRange {
  if ('last_seconds' in range) return { from: atS - 2 * range.last_seconds, to: atS - range.last_seconds };
  const { from, to } = range;
  const month = monthAt(from, timezone, 0);
  const isMonth = month.startS === from && month.endS === to;
  const before = isMonth ? monthAt(from, timezone, -1) : { startS: 2 * from - to, endS: from };
  if (to <= atS) return { from: before.startS, to: before.endS };
  return { from: before.startS, to: Math.min(before.startS + Math.max(atS - from, 1), before.endS) };
}

/** The data of the period before, and its series by key. */
export interface PreviousTotals {
  readonly data: ChartData;
  readonly set: SeriesSet;
}

/** How a value differs from the one before. */
export interface ChangeSince {
  /** -1, 0 or 1. */
  readonly direction: number;
  /** In percent with one digit of fraction, without a sign; undefined when there was nothing before. */
  readonly percent: string | undefined;
}

const PERCENT = 100;
/** A larger change says nothing more than that there was next to nothing before. */
const PERCENT_SHOWN_MAX = 999.9;

/** The percent of a change for people. */
export function percentText({ percent }: ChangeSince): string {
  if (percent === undefined) return 'new';
  return Number(percent) > PERCENT_SHOWN_MAX ? `> ${Math.floor(PERCENT_SHOWN_MAX)} %` : `${percent} %`;
}

/** Returns undefined when there is nothing on both sides. */
export function changeSince(now: string | undefined, before: string | undefined): ChangeSince | undefined {
  if (now === undefined && before === undefined) return undefined;
  const difference = exactSum([now ?? '0', negated(before ?? '0')]);
  const direction = difference === '0' ? 0 : difference.startsWith('-') ? -1 : 1;
  const base = Math.abs(Number(before ?? '0'));
  if (base === 0) return { direction, percent: undefined };
  return { direction, percent: ((Math.abs(Number(difference)) / base) * PERCENT).toFixed(1) };
}
