import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_round(dec("0.5"), 0)', '0'],
  ['dec_round(dec("1.5"), 0)', '2'],
  ['dec_round(dec("2.5"), 0)', '2'],
  ['dec_round(dec("2.500000000000000001"), 0)', '3'],
  ['dec_round(dec("-0.5"), 0)', '0'],
  ['dec_round(dec("-1.5"), 0)', '-2'],
  ['dec_round(dec("-2.5"), 0)', '-2'],
  ['dec_round(dec("1.005"), 2)', '1'],
  ['dec_round(dec("1.015"), 2)', '1.02'],
  ['dec_round(dec("1.0151"), 2)', '1.02'],
  ['dec_round(dec("9.995"), 2)', '10'],
  ['dec_round(dec("7"), 38)', '7'],
  ['dec_round(dec("1.50"), 1)', '1.5'],
  ['dec_round(item.quantity, 0)', '1500'],
  ['dec_round(dimensions.seats, 0)', '4'],
  ['dec_round(item.quantity, size("") + 0)', '1500'],
  ['dec_round(dyn(0.125), 2)', '0.12'],
  ['dec_round(dec("1"), -1)', 'refused: line 1, column 21: expected a scale from 0 to 38 fraction digits'],
  ['dec_round(dec("1"), 39)', 'refused: line 1, column 21: expected a scale from 0 to 38 fraction digits'],
  [
    'dec_round(dec("1"), 9223372036854775807)',
    'refused: line 1, column 21: expected a scale from 0 to 38 fraction digits',
  ],
  [
    'dec_round(item.quantity, size(dimensions.model) - 7)',
    'fails: line 1, column 26: expected a scale from 0 to 38 fraction digits',
  ],
  [
    'dec_round(dec("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_round(Decimal)'; expected dec_round(Decimal, scale)",
  ],
  [
    'dec_round("1", 2)',
    "refused: line 1, column 1: found no matching overload for 'dec_round(string, int)'; expected dec_round(Decimal, scale)",
  ],
  [
    'dec_round(dec("1"), "2")',
    "refused: line 1, column 1: found no matching overload for 'dec_round(Decimal, string)'; expected dec_round(Decimal, scale)",
  ],
  [
    'dec_round(dec("1"), 2.0)',
    "refused: line 1, column 1: found no matching overload for 'dec_round(Decimal, double)'; expected dec_round(Decimal, scale)",
  ],
  ['dec_round(dimensions.model, 2)', 'fails: line 1, column 22: expected a decimal'],
  ['dec_round(dec("1"), dimensions.seats)', 'fails: line 1, column 32: expected int'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
