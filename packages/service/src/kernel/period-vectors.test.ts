import { expect, it } from 'vitest';
import {
  isPeriodOf,
  PERIOD_VECTORS,
  type PeriodVector,
  periodVectorsOfOthers,
} from '../testing/period-vectors.js';
import { parseCounterPeriod, windowAt } from './period.js';
import { present } from './present.js';

function isAsWanted(vector: PeriodVector): boolean {
  const { period, tz, anchor = 0, at } = vector;
  const settings = { timezone: tz, anchorS: anchor, weekStart: 'monday' as const };
  const { startS, endS } = windowAt(present(parseCounterPeriod(period), period), settings, at);
  return isPeriodOf(vector, startS, endS);
}

it.each(PERIOD_VECTORS)('$o', (vector) => {
  expect(isAsWanted(vector)).toBe(true);
});

it('divides time into periods as others do', () => {
  expect(periodVectorsOfOthers().filter((vector) => !isAsWanted(vector))).toEqual([]);
});
