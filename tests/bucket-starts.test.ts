import { describe, expect, it } from 'vitest';
import {
  type BucketSize,
  bucketEnd,
  bucketStarts,
  monthAt,
} from '../packages/console/src/features/boards/buckets.js';
import { bucketStarts as cutByService, nextBucketStart } from '../packages/service/src/kernel/bucket.js';

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
});

function expectSameBuckets(middleS: number, aroundS: number, size: BucketSize, timezone: string): void {
  const [fromS, toS] = [middleS - aroundS, middleS + aroundS];
  const starts = bucketStarts(fromS, toS, size, timezone);
  expect(starts).toEqual(cutByService(fromS, toS, size, timezone));
  const last = starts.at(-1) ?? 0;
  expect(bucketEnd(last, size, timezone)).toBe(nextBucketStart(last, size, timezone));
}
