import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_div(dec("1"), dec("3"), 4)', '0.3333'],
  ['dec_div(dec("2"), dec("3"), 4)', '0.6667'],
  ['dec_div(dec("1"), dec("8"), 2)', '0.12'],
  ['dec_div(dec("3"), dec("8"), 2)', '0.38'],
  ['dec_div(dec("-1"), dec("8"), 2)', '-0.12'],
  ['dec_div(dec("-3"), dec("8"), 2)', '-0.38'],
  ['dec_div(dec("1"), dec("-8"), 2)', '-0.12'],
  ['dec_div(dec("1"), dec("2"), 0)', '0'],
  ['dec_div(dec("3"), dec("2"), 0)', '2'],
  ['dec_div(dec("0"), dec("7"), 38)', '0'],
  ['dec_div(dec("10"), dec("0.5"), 0)', '20'],
  ['dec_div(dec("1"), dec("3"), 38)', '0.33333333333333333333333333333333333333'],
  ['dec_div(item.quantity, dec("1000"), 38)', '1.5005'],
  ['dec_div(dec("1e20"), dec("1e-20"), 0)', '10000000000000000000000000000000000000000'],
  ['dec_div(dimensions.seats, dec("2"), size("ab"))', '1.75'],
  ['dec_div(dyn(1), dyn(4), 2)', '0.25'],
  [
    'dec_div(dec("1e399"), dec("1e-2"), 0)',
    'refused: line 1, column 1: the decimal is out of range: more than 400 digits',
  ],
  ['dec_div(dec("1"), dec("0"), 2)', 'refused: line 1, column 19: division by zero'],
  ['dec_div(item.quantity, dec("0.00"), 2)', 'refused: line 1, column 24: division by zero'],
  ['dec_div(dec("1"), dimensions.seats - dec("3.5"), 2)', 'fails: line 1, column 1: division by zero'],
  [
    'dec_div(dec("1"), dec("2"), -1)',
    'refused: line 1, column 29: expected a scale from 0 to 38 fraction digits',
  ],
  [
    'dec_div(dec("1"), dec("2"), 39)',
    'refused: line 1, column 29: expected a scale from 0 to 38 fraction digits',
  ],
  [
    'dec_div(dec("1"), dec("2"), 9223372036854775807)',
    'refused: line 1, column 29: expected a scale from 0 to 38 fraction digits',
  ],
  [
    'dec_div(item.quantity, dec("3"), size(dimensions.model) + 33)',
    'fails: line 1, column 34: expected a scale from 0 to 38 fraction digits',
  ],
  [
    'dec_div(dec("1"), dec("2"))',
    "refused: line 1, column 1: found no matching overload for 'dec_div(Decimal, Decimal)'; expected dec_div(Decimal, Decimal, scale)",
  ],
  [
    'dec_div(dec("1"), dec("2"), 2.0)',
    "refused: line 1, column 1: found no matching overload for 'dec_div(Decimal, Decimal, double)'; expected dec_div(Decimal, Decimal, scale)",
  ],
  [
    'dec_div(dec("1"), dec("2"), dec("2"))',
    "refused: line 1, column 1: found no matching overload for 'dec_div(Decimal, Decimal, Decimal)'; expected dec_div(Decimal, Decimal, scale)",
  ],
  [
    'dec_div(dec("1"), int("2"), 2)',
    "refused: line 1, column 1: found no matching overload for 'dec_div(Decimal, int, int)'; expected dec_div(Decimal, Decimal, scale)",
  ],
  ['dec_div(dec("1"), dec("2"), dimensions.model)', 'fails: line 1, column 40: expected int'],
  ['dec_div(dec("1"), dec("2"), dimensions.seats)', 'fails: line 1, column 40: expected int'],
  ['dec_div(dimensions.model, dec("2"), 2)', 'fails: line 1, column 20: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
