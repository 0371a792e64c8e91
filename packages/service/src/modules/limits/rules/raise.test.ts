import { expect, it } from 'vitest';
import { raisedBy } from './raise.js';

const raise = (fromMs: number, untilMs: number, amount: bigint, limitKey = 'spend') => ({
  ...{ fromMs, untilMs, amount, limitKey },
});
const RAISES = [raise(1_500, 4_000, 1n), raise(2_000, 3_500, 10n), raise(0, 9_000, 100n, 'other')];
const WINDOW = { startS: 1, endS: 3 };

it.each([
  ['before any raise', WINDOW, 1_499, 0n],
  ['from the moment of a raise on', WINDOW, 1_500, 1n],
  ['with several, which add up', WINDOW, 2_500, 11n],
  ['of the past, as it ended, whatever ended since', WINDOW, 8_000, 11n],
  ['of the past, that ended before the raises', { startS: 0, endS: 1 }, 2_500, 0n],
  ['that is open when a raise ends', { startS: 3, endS: 5 }, 3_499, 11n],
  ['that is open after a raise has ended', { startS: 3, endS: 5 }, 3_500, 1n],
  ['that is open after all have ended', { startS: 3, endS: 5 }, 4_000, 0n],
  ['of the future, by what will be active then', { startS: 3, endS: 5 }, 2_500, 11n],
  ['of the future, after all have ended', { startS: 5, endS: 6 }, 2_500, 0n],
  ['of a lifetime', { startS: 0, endS: undefined }, 3_999, 1n],
])('a window %s', (_, window, nowMs, expected) => {
  expect(raisedBy(RAISES, 'spend', window, nowMs)).toBe(expected);
});
