import { USAGE_LIMIT_ANCHOR_S_MAX } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { PERIOD_COUNT_MAX, type Period, parsePeriod, windowAt } from '../../../../kernel/period.js';
import { TEST_NOW_S } from '../../../../testing/api.js';

const DAY_S = 86_400;
const YEARS_S = 365 * DAY_S;
const { minute, hour, day, week, month } = PERIOD_COUNT_MAX;
const PERIODS = ['minute', 'hour', 'day', 'week', 'month', 'lifetime', '1h', '1d', '1w', '1 month'].concat(
  `${minute}m`,
  `${hour}h`,
  `${day}d`,
  `${week}w`,
  `${month} month`,
);
/** From ten years ago, the oldest time that an event can have, to 60 years from now. */
const INSTANTS = [TEST_NOW_S - 10 * YEARS_S, TEST_NOW_S, TEST_NOW_S + 30 * DAY_S, TEST_NOW_S + 60 * YEARS_S];

describe('every route that can be created has windows for every period', () => {
  it.each(['UTC', 'America/New_York', 'Africa/Casablanca', 'Pacific/Apia'])('in %s', (timezone) => {
    for (const anchorS of [0, TEST_NOW_S, USAGE_LIMIT_ANCHOR_S_MAX]) {
      for (const text of PERIODS) {
        for (const atS of INSTANTS) {
          const { startS, endS = Number.POSITIVE_INFINITY } = windowAt(
            parsePeriod(text) as Period,
            { timezone, weekStart: 'sunday', anchorS },
            atS,
          );
          expect([startS <= atS, atS < endS]).toEqual([true, true]);
        }
      }
    }
  });
});
