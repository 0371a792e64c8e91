import { describe, expect, it } from 'vitest';
import {
  type BucketSize,
  bucketEnd,
  bucketStarts,
  monthAt,
} from '../packages/console/src/features/boards/buckets.js';
import { instantOf, instantShowing, wallTime } from '../packages/console/src/timezone.js';
import { bucketStarts as cutByService, nextBucketStart } from '../packages/service/src/kernel/bucket.js';
import { zoneOf } from '../packages/service/src/kernel/timezone.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const SIZES = [60, 900, HOUR_S, 4 * HOUR_S, 90 * 60, 7 * HOUR_S, DAY_S, 3 * DAY_S, 7 * DAY_S];
const MONTHS = [1, 2, 3, 12].map((months) => ({ months }));
/** Summer time by an hour and by half of one, over midnight, none at all, and a day that was skipped. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'America/Havana',
  'Asia/Kathmandu',
  'Africa/Cairo',
];
/** Around each of these some of the clocks are changed. */
const MOMENTS = [
  '2026-03-08',
  '2026-03-29',
  '2026-04-05',
  '2026-04-24',
  '2026-10-25',
  '2026-10-29',
  '2026-11-01',
];

describe.each(ZONES)('the buckets that the console draws in %s', (timezone) => {
  it.each(MOMENTS)('are those that the service returns, around %s', (day) => {
    const middleS = Date.parse(`${day}T12:34:56Z`) / 1_000;
    for (const size of SIZES) expectSameBuckets(middleS, 3 * DAY_S, size, timezone);
    for (const size of MONTHS) expectSameBuckets(middleS, 500 * DAY_S, size, timezone);
  });

  it('begin months with the local clock, all of them since 1970', () => {
    const starts = bucketStarts(0, Date.parse('2038-01-01') / 1_000, { months: 1 }, timezone);
    expect(starts).toEqual(cutByService(0, Date.parse('2038-01-01') / 1_000, { months: 1 }, timezone));
    for (const [index, startS] of starts.entries()) {
      if (index > 0) expect(monthAt(startS - 1, timezone, 1)).toMatchObject({ startS });
    }
  });

  it.each(MOMENTS)('begin where a local time is chosen, around %s', (day) => {
    const noonS = Date.parse(`${day}T12:00:00Z`) / 1_000;
    for (let wallS = noonS - DAY_S; wallS < noonS + DAY_S; wallS += 15 * 60) {
      expect(instantShowing(wallS, timezone)).toBe(zoneOf(timezone).instantShowing(wallS));
    }
  });
});

describe('local time in the console and in the service', () => {
  const zones = Intl.supportedValuesOf('timeZone');

  it(`is the same in all ${zones.length} timezones`, () => {
    let changes = 0;
    for (const [index, timezone] of zones.entries()) {
      // A different year for each of 65 zones in a row, from 1972 to 2036.
      const year = 1972 + ((index * 7) % 65);
      for (const atS of monthsOf(year)) expectSameTime(atS, timezone);
      for (const changeS of changesIn(year, timezone)) {
        changes += 1;
        for (let aroundS = -3 * HOUR_S; aroundS <= 3 * HOUR_S; aroundS += 15 * 60) {
          expectSameTime(changeS + aroundS, timezone);
        }
        for (const aroundS of [-1, 0, 1]) expectSameTime(changeS + aroundS, timezone);
      }
    }
    expect(changes).toBeGreaterThan(100);
  });
});

function expectSameTime(atS: number, timezone: string): void {
  const zone = zoneOf(timezone);
  const wallS = zone.wallTime(atS);
  // Counted on with the offset of the day before: after a change, some clocks skip this time.
  const skippedS = atS + wallTime(atS - DAY_S, timezone) - (atS - DAY_S);
  const inConsole = [wallS, skippedS].flatMap((wall) => [
    instantOf(wall, timezone),
    instantShowing(wall, timezone),
  ]);
  const inService = [wallS, skippedS].flatMap((wall) => [zone.instantOf(wall), zone.instantShowing(wall)]);
  expect([wallTime(atS, timezone), ...inConsole], `${timezone} at ${atS}`).toEqual([wallS, ...inService]);
}

function monthsOf(year: number): number[] {
  return Array.from({ length: 13 }, (_, month) => Date.UTC(year, month) / 1_000);
}

/** The instants of a year at which the clock of a timezone is changed; one of each month. */
function changesIn(year: number, timezone: string): number[] {
  const offsetAt = (atS: number) => wallTime(atS, timezone) - atS;
  const months = monthsOf(year);
  return months.slice(1).flatMap((endS, index) => {
    let [lowS, highS] = [months[index] ?? endS, endS];
    if (offsetAt(lowS) === offsetAt(highS)) return [];
    while (highS - lowS > 1) {
      const middleS = Math.floor((lowS + highS) / 2);
      if (offsetAt(middleS) === offsetAt(lowS)) lowS = middleS;
      else highS = middleS;
    }
    return [highS];
  });
}

function expectSameBuckets(middleS: number, aroundS: number, size: BucketSize, timezone: string): void {
  const [fromS, toS] = [middleS - aroundS, middleS + aroundS];
  const starts = bucketStarts(fromS, toS, size, timezone);
  expect(starts).toEqual(cutByService(fromS, toS, size, timezone));
  const last = starts.at(-1) ?? 0;
  expect(bucketEnd(last, size, timezone)).toBe(nextBucketStart(last, size, timezone));
}
