import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_sub(dec("0.1"), dec("0.3"))', '-0.2'],
  ['dec_sub(dec("1"), dec("1.000"))', '0'],
  ['dec_sub(dec("-1"), dec("-2"))', '1'],
  [
    'dec_sub(dec("100000000000000000000"), dec("0.000000000000000001"))',
    '99999999999999999999.999999999999999999',
  ],
  ['dec_sub(item.quantity, dec("0.5"))', '1500'],
  ['dec_sub(dimensions.seats, dec("1"))', '2.5'],
  ['dec_sub(dec("10"), dec("3")) - dec("2")', '5'],
  [
    'dec_sub(dec("9e399"), dec("-9e399"))',
    'refused: line 1, column 1: the decimal is out of range: more than 400 digits',
  ],
  [
    'dec_sub(dec("1"), int("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_sub(Decimal, int)'; expected dec_sub(Decimal, Decimal)",
  ],
  [
    'dec_sub("1", "2")',
    "refused: line 1, column 1: found no matching overload for 'dec_sub(string, string)'; expected dec_sub(Decimal, Decimal)",
  ],
  [
    'dec_sub(dec("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_sub(Decimal)'; expected dec_sub(Decimal, Decimal)",
  ],
  ['dec_sub(dimensions.model, dec("1"))', 'fails: line 1, column 20: expected a decimal'],
  ['dec_sub(dec("1"), dimensions.model)', 'fails: line 1, column 30: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
