import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Period,
  parseCounterPeriod,
  type TimeWindow,
  type WindowSettings,
  windowAt,
  windowContains,
} from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { anyMovedPeriod, anyPeriodChange, PeriodsModel } from './periods.testing.js';
import { periodAmong, windowsAround } from './windows-around.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

const secondsOf = (text: string) => Date.parse(text) / 1_000;
const zoned = (timezone: string, anchorS = 0): WindowSettings => ({
  timezone,
  anchorS,
  weekStart: 'monday',
});
const periodOf = (text: string) => present(parseCounterPeriod(text), `the period ${text}`);

const month = {
  berlin: zoned('Europe/Berlin'),
  newYork: zoned('America/New_York'),
  tokyo: zoned('Asia/Tokyo'),
};
/** March in Berlin ends six hours before March in New York does, and seven hours after March in Tokyo. */
const BERLIN_APRIL_S = secondsOf('2026-04-01T00:00:00+02:00');
const NEW_YORK_APRIL_S = secondsOf('2026-04-01T00:00:00-04:00');

describe('a new timezone or anchor', () => {
  it.each([
    ['first in the rest', [BERLIN_APRIL_S, NEW_YORK_APRIL_S + 9 * DAY_S]],
    ['first after it', [NEW_YORK_APRIL_S + 9 * DAY_S, BERLIN_APRIL_S]],
  ])('makes a period of a short rest and the next window, with usage %s', (_, instants) => {
    const periods = new PeriodsModel(periodOf('month'));
    periods.count(month.berlin, secondsOf('2026-03-10T00:00Z'));
    const found = instants.map((atS) => periods.count(month.newYork, atS));
    expect(found).toEqual([found[0], found[0]]);
    expect(found[0]).toEqual({ startS: BERLIN_APRIL_S, endS: secondsOf('2026-05-01T00:00:00-04:00') });
    expect(periods.count(month.newYork, BERLIN_APRIL_S - 1).endS).toBe(BERLIN_APRIL_S);
  });

  it.each([
    ['in the rest', [NEW_YORK_APRIL_S - 1, secondsOf('2026-03-10T00:00Z')]],
    ['before it', [secondsOf('2026-03-10T00:00Z'), NEW_YORK_APRIL_S - 1]],
  ])(
    'makes a period of a short rest before usage and the window before it, with late usage first %s',
    (_, instants) => {
      const periods = new PeriodsModel(periodOf('month'));
      periods.count(month.newYork, secondsOf('2026-04-10T00:00Z'));
      const found = instants.map((atS) => periods.count(month.berlin, atS));
      expect(found).toEqual([found[0], found[0]]);
      expect(found[0]).toEqual({ startS: secondsOf('2026-03-01T00:00:00+01:00'), endS: NEW_YORK_APRIL_S });
    },
  );

  it('cuts the next window where the next months began earlier', () => {
    const periods = new PeriodsModel(periodOf('month'));
    periods.count(month.newYork, secondsOf('2026-03-10T00:00Z'));
    const next = { startS: NEW_YORK_APRIL_S, endS: secondsOf('2026-05-01T00:00:00+09:00') };
    expect(periods.count(month.tokyo, NEW_YORK_APRIL_S)).toEqual(next);
  });

  it.each([
    [3, 10],
    [3.5, 3.5],
    [4, 4],
  ])('leaves a rest of %d days of a week to a period of %d days', (days, expected) => {
    const periods = new PeriodsModel(periodOf('7d'));
    const anchorS = secondsOf('2026-03-02T12:00Z');
    const { endS: restS } = periods.count(zoned('UTC', anchorS), anchorS);
    const settings = zoned('UTC', anchorS + days * DAY_S);
    const { startS, endS = 0 } = periods.count(settings, present(restS, 'the end of a week'));
    expect([startS - anchorS, endS - startS]).toEqual([7 * DAY_S, expected * DAY_S]);
  });

  it('joins two short rests that meet between other periods', () => {
    const windows = windowsAround(periodOf('day'), zoned('UTC'), DAY_S - 1);
    const others = [
      { startS: 0, endS: DAY_S - HOUR_S },
      { startS: DAY_S + HOUR_S, endS: 2 * DAY_S },
    ];
    const joined = { startS: DAY_S - HOUR_S, endS: DAY_S + HOUR_S };
    expect(periodAmong(windows, others, DAY_S - 1)).toEqual(joined);
    expect(periodAmong(windowsAround(periodOf('day'), zoned('UTC'), DAY_S), others, DAY_S)).toEqual(joined);
  });

  it('does not end a lifetime', () => {
    const periods = new PeriodsModel(periodOf('lifetime'));
    expect(periods.count(zoned('UTC'), DAY_S)).toEqual({ startS: 0, endS: undefined });
    expect(periods.count(zoned('Asia/Tokyo'), 2 * DAY_S)).toEqual({ startS: 0, endS: undefined });
  });
});

/**
 * Returns the periods that all usage of a time can have, given those that there are: between two of them, the windows
 * of the settings, of which the first and the last one may be too short to stand alone.
 */
function allPeriods(stored: readonly TimeWindow[], period: Period, settings: WindowSettings): TimeWindow[] {
  const ends = stored.map(({ startS, endS = 0 }) => ({ startS, endS })).sort((a, b) => a.startS - b.startS);
  const found: TimeWindow[] = [...stored];
  let fromS = secondsOf('2025-11-01T00:00Z');
  for (const next of [...ends, { startS: secondsOf('2027-02-01T00:00Z'), endS: 0 }]) {
    found.push(...between(fromS, next.startS, period, settings));
    fromS = next.endS;
  }
  return found;
}

function between(fromS: number, toS: number, period: Period, settings: WindowSettings): TimeWindow[] {
  const bounds = [fromS];
  const lengths: number[] = [];
  while (present(bounds.at(-1), 'a bound') < toS) {
    const { startS, endS = 0 } = windowAt(period, settings, present(bounds.at(-1), 'a bound'));
    bounds.push(Math.min(endS, toS));
    lengths.push(endS - startS);
  }
  const isShort = (index: number) => {
    const [start = 0, end = 0] = bounds.slice(index, index + 2);
    return (end - start) / (lengths[index] ?? 0) < 1 / 2;
  };
  const last = lengths.length - 1;
  const dropped = new Set([...(isShort(0) ? [1] : []), ...(last > 0 && isShort(last) ? [last] : [])]);
  const kept = bounds.filter((_, index) => index === bounds.length - 1 || !dropped.has(index));
  return kept.slice(1).map((endS, index) => ({ startS: kept[index] as number, endS }));
}

it('every instant has one period, whatever is changed and in whatever order usage comes', () => {
  const run = fc.record({
    period: anyMovedPeriod,
    changes: fc.array(anyPeriodChange, { minLength: 1, maxLength: 5 }),
    order: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
  });
  fc.assert(
    fc.property(run, ({ period, changes, order }) => {
      const [periods, reordered] = [new PeriodsModel(period), new PeriodsModel(period)];
      for (const { settings, instants } of changes) {
        const expected = allPeriods(periods.stored, period, settings);
        for (const atS of instants) {
          const of = expected.filter((each) => windowContains(each, atS));
          expect(of).toHaveLength(1);
          expect(periods.count(settings, atS)).toEqual(of[0]);
        }
        const others = instants.toSorted((a, b) => (order[a % 8] ?? 0) - (order[b % 8] ?? 0));
        for (const atS of others) reordered.count(settings, atS);
      }
      const byStart = (a: TimeWindow, b: TimeWindow) => a.startS - b.startS;
      expect(reordered.stored.toSorted(byStart)).toEqual(periods.stored.toSorted(byStart));
      for (const { startS, endS = 0 } of periods.stored) {
        const own = windowAt(period, zoned('UTC', startS), startS);
        // Windows of one period differ by a change of clocks, and months by three days.
        const lengthS = (own.endS ?? 0) - own.startS;
        const marginS = lengthS > 27 * DAY_S ? 2 * DAY_S : HOUR_S;
        expect(endS - startS).toBeGreaterThan(lengthS / 2 - marginS);
        expect(endS - startS).toBeLessThan(2 * lengthS + 2 * marginS);
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});
