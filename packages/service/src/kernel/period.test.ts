import { Temporal } from '@js-temporal/polyfill';
import { WEEK_STARTS, type WeekStart } from '@tollgate/contract';
import { zoneOf } from '@tollgate/timezone';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../testing/property-runs.js';
import { type Period, parsePeriod, type TimeWindow, type WindowSettings, windowAt } from './period.js';

/**
 * Zones with offsets of whole, half and quarter hours, and changes by one hour and by half an hour, at midnight, across
 * the date line, and by political decision.
 */
const ZONES = `
  UTC Africa/Cairo Africa/Casablanca Africa/Johannesburg America/Asuncion America/Caracas America/Havana
  America/Los_Angeles America/New_York America/Nuuk America/Santiago America/Sao_Paulo America/St_Johns
  Antarctica/Troll Asia/Amman Asia/Beirut Asia/Gaza Asia/Kathmandu Asia/Kolkata Asia/Tehran Asia/Tokyo
  Australia/Adelaide Australia/Eucla Australia/Lord_Howe Europe/Berlin Europe/Dublin Europe/London Pacific/Apia
  Pacific/Auckland Pacific/Chatham Pacific/Kiritimati`
  .trim()
  .split(/\s+/);

const FROM_S = Date.UTC(2020, 0, 1) / 1_000;
const TO_S = Date.UTC(2036, 0, 1) / 1_000;
const instants = fc.integer({ min: FROM_S, max: TO_S });

const settings: fc.Arbitrary<WindowSettings> = fc.record({
  timezone: fc.constantFrom(...ZONES),
  weekStart: fc.constantFrom(...WEEK_STARTS),
  anchorS: instants,
});
const unit = fc.constantFrom(
  'minute' as const,
  'hour' as const,
  'day' as const,
  'week' as const,
  'month' as const,
);
const period: fc.Arbitrary<Period> = fc.oneof(
  fc.record({ kind: fc.constant('calendar' as const), unit }),
  fc.record({ kind: fc.constant('anchored' as const), unit, count: fc.integer({ min: 1, max: 40 }) }),
);

/** An instant near a clock change of the zone, or any other. */
const cases = fc
  .record({
    settings,
    at: instants,
    offset: fc.integer({ min: -7_200, max: 7_200 }),
    isNearChange: fc.boolean(),
  })
  .map(({ settings, at, offset, isNearChange }) => {
    if (!isNearChange) return { settings, at };
    const change = Temporal.Instant.fromEpochMilliseconds(at * 1_000)
      .toZonedDateTimeISO(settings.timezone)
      .getTimeZoneTransition('next');
    return { settings, at: change === null ? at : change.epochMilliseconds / 1_000 + offset };
  });

const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds / 1_000;
const local = (text: string) => Temporal.ZonedDateTime.from(text).epochMilliseconds / 1_000;
const settingsOf = (timezone: string, anchor = '2025-01-01T00:00Z'): WindowSettings => ({
  timezone,
  weekStart: 'monday',
  anchorS: at(anchor),
});
const windowOf = (text: string, of: WindowSettings, instant: number) =>
  windowAt(parsePeriod(text) as Period, of, instant);

describe('windows tile time', () => {
  test('an instant lies in its own window, and its neighbours begin where that ends', () => {
    fc.assert(
      fc.property(period, cases, (period, { settings, at }) => {
        const window = windowAt(period, settings, at) as Required<TimeWindow>;
        const endS = window.endS as number;
        expect(window.startS).toBeLessThanOrEqual(at);
        expect(endS).toBeGreaterThan(at);
        expect(windowAt(period, settings, window.startS)).toEqual(window);
        expect(windowAt(period, settings, endS - 1)).toEqual(window);
        expect(windowAt(period, settings, endS).startS).toBe(endS);
        expect(windowAt(period, settings, window.startS - 1).endS).toBe(window.startS);
      }),
      { numRuns: propertyRuns(750) },
    );
  });

  test('a lifetime has neither', () => {
    expect(windowOf('lifetime', settingsOf('UTC'), at('2025-05-05T05:05Z'))).toEqual({
      startS: 0,
      endS: undefined,
    });
  });
});

describe('against an independent calendar', () => {
  const zoned = (atS: number, timezone: string) =>
    Temporal.Instant.fromEpochMilliseconds(atS * 1_000).toZonedDateTimeISO(timezone);
  const seconds = (time: Temporal.ZonedDateTime) => time.epochMilliseconds / 1_000;

  test('days, weeks and months begin with the local day', () => {
    fc.assert(
      fc.property(cases, fc.constantFrom('day', 'week', 'month'), ({ settings, at }, unit) => {
        const time = zoned(at, settings.timezone);
        const daysIn =
          unit === 'day'
            ? 0
            : unit === 'month'
              ? time.day - 1
              : (time.dayOfWeek - 1 - WEEK_STARTS.indexOf(settings.weekStart) + 7) % 7;
        const first = time.toPlainDate().subtract({ days: daysIn });
        const next = first.add(unit === 'day' ? { days: 1 } : unit === 'week' ? { weeks: 1 } : { months: 1 });
        const starts = [first, next].map((day) => seconds(day.toZonedDateTime(settings.timezone)));
        // When the clock is set back over midnight, it shows the end of the old day again, within the new day.
        fc.pre(at < (starts[1] as number));
        expect(windowOf(unit, settings, at)).toEqual({ startS: starts[0], endS: starts[1] });
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('durations are steps of the local clock from the anchor', () => {
    fc.assert(
      fc.property(
        cases,
        fc.constantFrom('days' as const, 'weeks' as const, 'months' as const),
        fc.integer({ min: 1, max: 14 }),
        ({ settings, at }, unit, count) => {
          const anchor = zoned(settings.anchorS, settings.timezone);
          const { startS, endS } = windowOf(`${count} ${unit}`, settings, at);
          const guess = Math.round(
            anchor.until(zoned(startS, settings.timezone)).total({ unit, relativeTo: anchor }) / count,
          );
          const boundary = (step: number) => seconds(anchor.add({ [unit]: step * count }));
          expect([startS, endS]).toEqual([boundary(guess), boundary(guess + 1)]);
        },
      ),
      { numRuns: propertyRuns(250) },
    );
  });

  test('an hour begins when the local clock strikes, or is changed by less than an hour', () => {
    fc.assert(
      fc.property(cases, ({ settings, at }) => {
        const { startS, endS } = windowOf('hour', settings, at);
        const start = zoned(startS, settings.timezone);
        const strikes = start.minute === 0 && start.second === 0;
        const isChange = start.subtract({ seconds: 1 }).offsetNanoseconds !== start.offsetNanoseconds;
        expect(strikes || isChange).toBe(true);
        expect((endS as number) - startS).toBeLessThanOrEqual(3_600);
        if (
          !isChange &&
          strikes &&
          start.add({ seconds: 3_599 }).offsetNanoseconds === start.offsetNanoseconds
        )
          expect(endS).toBe(startS + 3_600);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

describe('examples', () => {
  test('months are counted from the original anchor, and clamped', () => {
    const settings = settingsOf('UTC', '2025-01-31T10:00Z');
    const starts = ['2025-01-31T10:00Z', '2025-02-28T10:00Z', '2025-03-31T10:00Z', '2025-04-30T10:00Z'].map(
      at,
    );
    for (const [index, startS] of starts.slice(0, -1).entries()) {
      expect(windowOf('1 month', settings, startS)).toEqual({ startS, endS: starts[index + 1] });
    }
    expect(windowOf('1 month', settings, at('2024-02-29T09:59Z')).startS).toBe(at('2024-01-31T10:00Z'));
    expect(windowOf('1 month', settings, at('2024-02-29T10:00Z')).startS).toBe(at('2024-02-29T10:00Z'));
  });

  test('time before the anchor is tiled too', () => {
    const settings = settingsOf('UTC', '2025-01-10T00:00Z');
    expect(windowOf('7d', settings, at('2025-01-09T23:59:59Z'))).toEqual({
      startS: at('2025-01-03T00:00Z'),
      endS: at('2025-01-10T00:00Z'),
    });
    expect(windowOf('5h', settings, at('2025-01-09T23:59:59Z')).startS).toBe(at('2025-01-09T19:00Z'));
  });

  test('a day of New York is 23 or 25 hours long, 24 hours are not', () => {
    const settings = settingsOf('America/New_York', '2025-03-08T05:00Z');
    const length = ({ startS, endS }: TimeWindow) => ((endS as number) - startS) / 3_600;
    const noon = at('2025-03-09T16:00Z');
    expect(length(windowOf('day', settings, noon))).toBe(23);
    expect(length(windowOf('1d', settings, noon))).toBe(23);
    expect(length(windowOf('24h', settings, noon))).toBe(24);
    expect(length(windowOf('day', settings, at('2025-11-02T16:00Z')))).toBe(25);
  });

  test('the hour that is shown twice is two windows', () => {
    const settings = settingsOf('Europe/Berlin');
    expect(windowOf('hour', settings, at('2025-10-26T00:30Z'))).toEqual({
      startS: at('2025-10-26T00:00Z'),
      endS: at('2025-10-26T01:00Z'),
    });
    expect(windowOf('hour', settings, at('2025-10-26T01:30Z')).startS).toBe(at('2025-10-26T01:00Z'));
  });

  test('half an hour is taken from Lord Howe', () => {
    const settings = settingsOf('Australia/Lord_Howe');
    // At 02:00+11:00 the clock goes back to 01:30+10:30.
    const changeS = local('2025-04-06T01:30:00+10:30[Australia/Lord_Howe]');
    expect(windowOf('hour', settings, changeS - 1).endS).toBe(changeS);
    expect(windowOf('hour', settings, changeS)).toEqual({ startS: changeS, endS: changeS + 1_800 });
  });

  test('an anchor at a time that is skipped is shifted by what was skipped', () => {
    const settings = settingsOf('Europe/Berlin', '2025-03-29T01:30Z');
    expect(windowOf('1d', settings, at('2025-03-30T12:00Z')).startS).toBe(at('2025-03-30T01:30Z'));
    expect(zoneOf('Europe/Berlin').wallTime(at('2025-03-30T01:30Z')) % 86_400).toBe(3.5 * 3_600);
  });

  test('weeks begin on the day that is asked for', () => {
    const thursday = at('2025-05-15T12:00Z');
    const startOf = (weekStart: WeekStart) =>
      windowOf('week', { ...settingsOf('UTC'), weekStart }, thursday).startS;
    expect(startOf('monday')).toBe(at('2025-05-12T00:00Z'));
    expect(startOf('sunday')).toBe(at('2025-05-11T00:00Z'));
    expect(startOf('thursday')).toBe(at('2025-05-15T00:00Z'));
  });

  test('a timezone that is none', () => {
    expect(() => windowOf('day', settingsOf('Mars/Olympus'), 0)).toThrow(RangeError);
  });
});
