import fc from 'fast-check';
import {
  type Period,
  parseCounterPeriod,
  type TimeWindow,
  type WindowSettings,
  windowContains,
} from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import { periodAmong, windowsAround } from './windows-around.js';

/** The periods of a counter, as transactions should open them. */
export class PeriodsModel {
  readonly stored: TimeWindow[] = [];

  constructor(readonly period: Period) {}

  /** Returns the period of an instant. */
  count(settings: WindowSettings, atS: number): TimeWindow {
    const known = this.stored.find((each) => windowContains(each, atS));
    if (known !== undefined) return known;
    const windows = windowsAround(this.period, settings, atS);
    const [from, to] = [present(windows[0], 'a window').startS, windows.at(-1)?.endS ?? Infinity];
    // No other period must matter.
    const near = this.stored.filter(({ startS, endS = Infinity }) => startS < to && endS > from);
    const opened = periodAmong(windows, near, atS);
    this.stored.push(opened);
    return opened;
  }
}

const secondsOf = (text: string) => Date.parse(text) / 1_000;
const periodOf = (text: string) => present(parseCounterPeriod(text), `the period ${text}`);

const TIMEZONES = [
  'UTC',
  'America/New_York',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Australia/Lord_Howe',
];
const anySettings: fc.Arbitrary<WindowSettings> = fc.record({
  timezone: fc.constantFrom(...TIMEZONES),
  weekStart: fc.constantFrom('monday', 'sunday'),
  anchorS: fc.integer({ min: secondsOf('2025-01-01T00:00Z'), max: secondsOf('2027-01-01T00:00Z') }),
});
/** Periods that begin at other times when settings change. */
export const anyMovedPeriod = fc
  .constantFrom('day', 'week', 'month', '36h', '3d', '7d', '1 month')
  .map(periodOf);
/** Usage of 60 days, so that most instants meet periods of former settings. */
const anyInstant = fc.integer({ min: secondsOf('2026-03-01T00:00Z'), max: secondsOf('2026-04-30T00:00Z') });
/** Settings, and the usage that is rated by them. */
export const anyPeriodChange = fc.record({
  settings: anySettings,
  instants: fc.array(anyInstant, { minLength: 1, maxLength: 8 }),
});
