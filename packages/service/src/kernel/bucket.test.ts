import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  automaticBucket,
  BUCKET_LADDER,
  bucketStart,
  bucketStarts,
  formatBucketSize,
  nextBucketStart,
  parseBucketSize,
  raiseBucket,
} from './bucket.js';
import { ZONES } from './bucket.testing.js';

const DAY_S = 86_400;
const unix = (iso: string): number => Date.parse(iso) / 1_000;

const SECONDS_OF_LADDER = BUCKET_LADDER.filter((size) => typeof size === 'number');

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the local date and time as Intl shows them, independently of the code under test: `2024-03-10 23:59:59`. */
function wallText(atS: number, timezone: string): string {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: timezone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    formats.set(timezone, format);
  }
  return format.format(atS * 1_000);
}

describe('bucket sizes as text', () => {
  it.each([
    ['90s', 90, '90s'],
    ['1m', 60, '1m'],
    ['15m', 900, '15m'],
    ['90m', 5_400, '90m'],
    ['2h', 7_200, '2h'],
    ['24h', DAY_S, '1d'],
    ['3d', 3 * DAY_S, '3d'],
    ['3650d', 3_650 * DAY_S, '3650d'],
  ])('%s', (text, sizeS, canonical) => {
    expect(parseBucketSize(text)).toBe(sizeS);
    expect(formatBucketSize(sizeS)).toBe(canonical);
  });

  it.each([
    ...[
      '',
      '0m',
      '00m',
      '01m',
      '-1m',
      '+1m',
      '1',
      'm',
      '1 m',
      ' 1m',
      '1m ',
      '1m\n',
      '1.5h',
      '1e3s',
      '1M',
      '1w',
    ],
    ...['auto', 'none', '1h30m', '3651d', '999999999d', '9999999999s', `${'9'.repeat(1_000)}m`, '١m'],
  ])('refuses %j', (text) => {
    expect(parseBucketSize(text)).toBeUndefined();
  });

  it.each([
    ['1mo', 1],
    ['3mo', 3],
    ['12mo', 12],
    ['120mo', 120],
  ])('%s', (text, months) => {
    expect(parseBucketSize(text)).toEqual({ months });
    expect(formatBucketSize({ months })).toBe(text);
  });

  it.each(['0mo', '121mo', '-1mo', '1.5mo', '1 mo', '1MO', '1M', 'mo'])(
    '%s is no number of months',
    (text) => {
      expect(parseBucketSize(text)).toBeUndefined();
    },
  );

  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_650 * DAY_S }), (sizeS) => {
        const parsed = parseBucketSize(formatBucketSize(sizeS));
        // A size of more than nine digits in seconds has no text; every whole minute has one.
        if (sizeS % 60 === 0 || sizeS < 1_000_000_000) expect(parsed).toBe(sizeS);
      }),
    );
  });
});

describe('automaticBucket', () => {
  it.each([
    ['UTC', '2024-05-01T00:00:00Z', '2024-05-01T00:00:00Z', '1m'],
    ['UTC', '2024-05-01T00:30:00Z', '2024-05-01T01:30:00Z', '1m'],
    ['UTC', '2024-05-01T00:30:00Z', '2024-05-01T01:30:01Z', '15m'],
    ['UTC', '2024-05-01T00:00:00Z', '2024-05-01T23:59:59Z', '15m'],
    ['UTC', '2024-05-01T00:00:00Z', '2024-05-02T00:00:00Z', '1h'],
    ['UTC', '2024-05-01T00:00:00Z', '2024-05-11T00:00:00Z', '1h'],
    ['UTC', '2024-05-01T00:00:00Z', '2024-05-11T00:00:01Z', '2h'],
    ['UTC', '2024-05-01T00:00:00Z', '2024-05-22T00:00:00Z', '2h'],
    ['UTC', '2024-05-01T00:00:00Z', '2024-05-22T00:00:01Z', '4h'],
    // A local day of 23 hours is one day; 24 hours of a day with 25 are not.
    ['America/New_York', '2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z', '1h'],
    ['UTC', '2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z', '15m'],
    ['America/New_York', '2024-11-03T04:00:00Z', '2024-11-04T04:00:00Z', '15m'],
    ['America/New_York', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z', '1h'],
    ['America/New_York', '2024-11-01T04:00:00Z', '2024-11-11T05:00:00Z', '1h'],
    ['America/New_York', '2024-11-01T04:00:00Z', '2024-11-11T05:00:01Z', '2h'],
    ['America/New_York', '2024-11-01T04:00:00Z', '2024-11-22T05:00:00Z', '2h'],
    ['America/New_York', '2024-11-01T04:00:00Z', '2024-11-22T05:00:01Z', '4h'],
  ])('%s from %s to %s is %s', (timezone, from, to, expected) => {
    expect(formatBucketSize(automaticBucket(unix(from), unix(to), timezone))).toBe(expected);
  });
});

describe('raiseBucket', () => {
  const from = unix('2024-05-01T00:00:00Z');
  it.each([
    ['1m', 1_500 * 60, '1m'],
    ['1m', 1_500 * 60 + 1, '5m'],
    ['1m', 30 * DAY_S, '30m'],
    ['3h', 30 * DAY_S, '3h'],
    ['3h', 365 * DAY_S, '6h'],
    ['1m', 365 * DAY_S, '6h'],
    ['1m', 3_650 * DAY_S, '7d'],
    ['1m', 30 * 365 * DAY_S, '1mo'],
    ['1d', 100 * 365 * DAY_S, '1mo'],
    ['1m', 20 * 3_650 * DAY_S, '2mo'],
    ['40d', 20 * 3_650 * DAY_S, '2mo'],
    ['1mo', 30 * DAY_S, '1mo'],
    ['3mo', 20 * 3_650 * DAY_S, '3mo'],
    ['30s', 60, '1m'],
    ['90s', 3_600, '5m'],
    ['8d', 30 * DAY_S, '8d'],
    ['1m', 0, '1m'],
  ])('%s over %i seconds is %s', (size, lengthS, expected) => {
    const raised = raiseBucket(parseBucketSize(size) ?? 0, from, from + lengthS, 'UTC');
    expect(formatBucketSize(raised)).toBe(expected);
  });

  it('never draws more than 1,500 points, and raises only for that', () => {
    const time = fc.integer({ min: unix('2016-01-01T00:00:00Z'), max: unix('2035-01-01T00:00:00Z') });
    const sizes = fc.oneof(
      fc.constantFrom(...SECONDS_OF_LADDER),
      fc.integer({ min: 1, max: 3_000 }).map((n) => n * 60),
    );
    fc.assert(
      fc.property(
        time,
        fc.nat({ max: 400 * DAY_S }),
        sizes,
        fc.constantFrom(...ZONES),
        (at, length, size, zone) => {
          const raised = raiseBucket(size, at, at + length, zone);
          expect(bucketStarts(at, at + length, raised, zone).length).toBeLessThanOrEqual(1_500);
          if (raised === size) return;
          expect(BUCKET_LADDER).toContain(raised);
          if (typeof raised === 'number') expect(raised).toBeGreaterThan(size);
          if (length / size < 3_000)
            expect(bucketStarts(at, at + length, size, zone).length).toBeGreaterThan(1_500);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('days that are not 24 hours from midnight', () => {
  it.each([
    ['America/New_York', '2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z', 'set forward at 2'],
    ['America/New_York', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z', 'set back at 2'],
    ['Australia/Lord_Howe', '2024-04-06T13:00:00Z', '2024-04-07T13:30:00Z', 'set back half an hour'],
    ['Australia/Lord_Howe', '2024-10-05T13:30:00Z', '2024-10-06T13:00:00Z', 'set forward half an hour'],
    ['Asia/Kathmandu', '2024-05-01T18:15:00Z', '2024-05-02T18:15:00Z', 'three quarters of an hour'],
    ['America/Sao_Paulo', '2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z', 'begins at 1'],
    ['America/Sao_Paulo', '2018-02-17T02:00:00Z', '2018-02-18T03:00:00Z', 'ends with 23 twice'],
    ['Asia/Beirut', '2022-03-26T22:00:00Z', '2022-03-27T21:00:00Z', 'begins at 1'],
    ['Africa/Cairo', '2023-04-27T22:00:00Z', '2023-04-28T21:00:00Z', 'begins at 1'],
    ['America/Havana', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z', 'has midnight twice'],
    ['America/St_Johns', '2010-11-07T02:30:00Z', '2010-11-08T03:30:00Z', 'set back over midnight'],
    ['Pacific/Apia', '2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z', 'before the day that was left out'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z', 'after the day that was left out'],
  ])('%s %s until %s: %s', (timezone, from, until) => {
    const [fromS, untilS] = [unix(from), unix(until)];
    for (let atS = fromS; atS < untilS; atS += 600) {
      expect(bucketStart(atS, DAY_S, timezone)).toBe(fromS);
      expect(nextBucketStart(atS, DAY_S, timezone)).toBe(untilS);
    }
    expect(bucketStarts(fromS - 1, untilS + 1, DAY_S, timezone)).toEqual([
      bucketStart(fromS - 1, DAY_S, timezone),
      fromS,
      untilS,
    ]);
    expect(bucketStarts(fromS, untilS, 3_600, timezone)).toHaveLength(Math.ceil((untilS - fromS) / 3_600));
  });

  it('counts hours from midnight and cuts the last at the end of the day', () => {
    const [fromS, untilS] = [unix('2024-10-05T13:30:00Z'), unix('2024-10-06T13:00:00Z')];
    const starts = bucketStarts(fromS, untilS, 4 * 3_600, 'Australia/Lord_Howe');
    expect(starts).toEqual([0, 4, 8, 12, 16, 20].map((hour) => fromS + hour * 3_600));
    expect(nextBucketStart(untilS - 1, 4 * 3_600, 'Australia/Lord_Howe')).toBe(untilS);
  });
});

describe('in every zone', () => {
  const time = fc.integer({ min: unix('2016-01-01T00:00:00Z'), max: unix('2036-01-01T00:00:00Z') });
  const size = fc.oneof(
    fc.constantFrom(...SECONDS_OF_LADDER, 4 * 3_600, 2 * DAY_S, 30 * DAY_S, 36 * 3_600),
    fc.integer({ min: 1, max: 10 * DAY_S }),
  );

  it.each(ZONES)('%s: buckets tile time and begin where they should', (timezone) => {
    fc.assert(
      fc.property(time, size, (atS, sizeS) => {
        const startS = bucketStart(atS, sizeS, timezone);
        const nextS = nextBucketStart(atS, sizeS, timezone);
        expect(startS).toBeLessThanOrEqual(atS);
        expect(nextS).toBeGreaterThan(atS);
        for (const inside of [startS, nextS - 1]) {
          expect(bucketStart(inside, sizeS, timezone)).toBe(startS);
          expect(nextBucketStart(inside, sizeS, timezone)).toBe(nextS);
        }
        expect(bucketStart(nextS, sizeS, timezone)).toBe(nextS);
        expect(bucketStart(startS - 1, sizeS, timezone)).toBeLessThan(startS);
        if (sizeS < DAY_S) {
          const dayS = bucketStart(atS, DAY_S, timezone);
          expect(startS).toBeGreaterThanOrEqual(dayS);
          expect((startS - dayS) % sizeS).toBe(0);
          expect(nextS - startS).toBeLessThanOrEqual(sizeS);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each(ZONES)('%s: days are the dates that the clock shows', (timezone) => {
    let previousDate: string | undefined;
    const weekStarts = new Set<number>();
    // Not `expect` for each day, which takes ten times as long as all the rest.
    const wrong: string[] = [];
    for (const startS of bucketStarts(
      unix('2016-01-01T12:00:00Z'),
      unix('2035-12-31T12:00:00Z'),
      DAY_S,
      timezone,
    )) {
      const firstMoment = wallText(startS, timezone);
      const lastMoment = wallText(startS - 1, timezone);
      const date = firstMoment.slice(0, 10);
      // Midnight or, where the clock skips it, the moment after.
      const isMidnight = firstMoment.endsWith(' 00:00:00') || lastMoment.endsWith(' 23:59:59');
      const followsDay = previousDate === undefined || lastMoment.startsWith(previousDate);
      const weekS = bucketStart(startS, 7 * DAY_S, timezone);
      const isRightDay = weekS !== startS || new Date(`${date}T00:00:00Z`).getUTCDay() === 1;
      if (!(lastMoment < date && isMidnight && followsDay && isRightDay)) wrong.push(firstMoment);
      weekStarts.add(weekS);
      previousDate = date;
    }
    expect(wrong).toEqual([]);
    // Monday 2015-12-28 to Monday 2035-12-31.
    expect(weekStarts.size).toBe(1_045);
  });
});

describe('bounds', () => {
  it('refuses what is no size, no zone, or too far', () => {
    for (const size of [0, -60, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => bucketStart(0, size, 'UTC')).toThrow(RangeError);
      expect(() => raiseBucket(size, 0, 1, 'UTC')).toThrow(RangeError);
    }
    for (const at of [1e13, -1e13, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => bucketStart(at, 60, 'UTC')).toThrow(RangeError);
    }
    expect(() => bucketStart(0, 60, 'Local')).toThrow(RangeError);
    expect(() => bucketStarts(0, 1e9, 60, 'UTC')).toThrow(RangeError);
    expect(bucketStarts(10, 10, 60, 'UTC')).toEqual([]);
  });
});
