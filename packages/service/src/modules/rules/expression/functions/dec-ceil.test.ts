import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_ceil(dec("0.5"), 0)', '1'],
  ['dec_ceil(dec("1.000000000000000001"), 0)', '2'],
  ['dec_ceil(dec("-0.5"), 0)', '0'],
  ['dec_ceil(dec("-1.009"), 2)', '-1'],
  ['dec_ceil(dec("1.001"), 2)', '1.01'],
  ['dec_ceil(dec("1"), 0)', '1'],
  ['dec_ceil(dec("7"), 38)', '7'],
  ['dec_ceil(dec("0"), 0)', '0'],
  ['dec_ceil(item.quantity, 0)', '1501'],
  ['dec_ceil(dimensions.seats, 0)', '4'],
  ['dec_ceil(dec("1"), -1)', 'refused: line 1, column 20: expected a scale from 0 to 38 fraction digits'],
  ['dec_ceil(dec("1"), 39)', 'refused: line 1, column 20: expected a scale from 0 to 38 fraction digits'],
  [
    'dec_ceil(dec("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_ceil(Decimal)'; expected dec_ceil(Decimal, scale)",
  ],
  [
    'dec_ceil(int("1"), 0)',
    "refused: line 1, column 1: found no matching overload for 'dec_ceil(int, int)'; expected dec_ceil(Decimal, scale)",
  ],
  ['dec_ceil(dimensions.model, 0)', 'fails: line 1, column 21: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
