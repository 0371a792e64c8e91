import { describe, expect, it } from 'vitest';
import { bucketEnd, bucketStarts } from '../packages/console/src/features/boards/buckets.js';
import { instantShowing } from '../packages/console/src/timezone.js';
import { bucketStarts as cutByService, nextBucketStart } from '../packages/service/src/kernel/bucket.js';
import { zoneOf } from '../packages/service/src/kernel/timezone.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const SIZES_S = [60, 900, HOUR_S, 4 * HOUR_S, 90 * 60, 7 * HOUR_S, DAY_S, 3 * DAY_S, 7 * DAY_S];
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
  it.each(MOMENTS)('are those that the service answers, around %s', (day) => {
    const middleS = Date.parse(`${day}T12:34:56Z`) / 1_000;
    for (const sizeS of SIZES_S) {
      const [fromS, toS] = [middleS - 3 * DAY_S, middleS + 3 * DAY_S];
      const starts = bucketStarts(fromS, toS, sizeS, timezone);
      expect(starts).toEqual(cutByService(fromS, toS, sizeS, timezone));
      const last = starts.at(-1) ?? 0;
      expect(bucketEnd(last, sizeS, timezone)).toBe(nextBucketStart(last, sizeS, timezone));
    }
  });

  it.each(MOMENTS)('begin where a local time is chosen, around %s', (day) => {
    const noonS = Date.parse(`${day}T12:00:00Z`) / 1_000;
    for (let wallS = noonS - DAY_S; wallS < noonS + DAY_S; wallS += 15 * 60) {
      expect(instantShowing(wallS, timezone)).toBe(zoneOf(timezone).instantShowing(wallS));
    }
  });
});
