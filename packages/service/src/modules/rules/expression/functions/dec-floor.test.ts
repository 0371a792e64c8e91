import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_floor(dec("0.5"), 0)', '0'],
  ['dec_floor(dec("1.999999999999999999"), 0)', '1'],
  ['dec_floor(dec("-0.5"), 0)', '-1'],
  ['dec_floor(dec("-1"), 0)', '-1'],
  ['dec_floor(dec("-1.001"), 2)', '-1.01'],
  ['dec_floor(dec("1.009"), 2)', '1'],
  ['dec_floor(dec("7"), 38)', '7'],
  ['dec_floor(dec("0"), 0)', '0'],
  ['dec_floor(item.quantity, 0)', '1500'],
  ['dec_floor(dimensions.seats, 0)', '3'],
  ['dec_floor(dec("1"), -1)', 'refused: line 1, column 21: expected a scale from 0 to 38 fraction digits'],
  ['dec_floor(dec("1"), 39)', 'refused: line 1, column 21: expected a scale from 0 to 38 fraction digits'],
  [
    'dec_floor(dec("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_floor(Decimal)'; expected dec_floor(Decimal, scale)",
  ],
  [
    'dec_floor(int("1"), 0)',
    "refused: line 1, column 1: found no matching overload for 'dec_floor(int, int)'; expected dec_floor(Decimal, scale)",
  ],
  ['dec_floor(dimensions.model, 0)', 'fails: line 1, column 22: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
