import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_mul(item.quantity, item.unit_price)', '3.001'],
  ['dec_mul(item.quantity, dec("0.000002"))', '0.003001'],
  ['dec_mul(dec("-0.5"), dec("0.5"))', '-0.25'],
  ['dec_mul(dec("-0.5"), dec("-0.5"))', '0.25'],
  ['dec_mul(dec("0"), dec("-5"))', '0'],
  ['dec_mul(dec("0.000000001"), dec("0.0000000001"))', '0.0000000000000000001'],
  [
    'dec_mul(dec("9999999999999999999"), dec("9999999999999999999"))',
    '99999999999999999980000000000000000001',
  ],
  ['dec_mul(dimensions.seats, dec("2"))', '7'],
  ['dec_mul(dyn(3), dyn(0.5))', '1.5'],
  [
    'dec_mul(dec("1e200"), dec("1e200"))',
    'refused: line 1, column 1: the decimal is out of range: more than 400 digits',
  ],
  [
    'dec_mul(dec("1e-200"), dec("1e-201"))',
    'refused: line 1, column 1: the decimal is out of range: more than 400 fraction digits',
  ],
  [
    'dec_mul(item.quantity)',
    "refused: line 1, column 1: found no matching overload for 'dec_mul(Decimal)'; expected dec_mul(Decimal, Decimal)",
  ],
  [
    'dec_mul("1", "2")',
    "refused: line 1, column 1: found no matching overload for 'dec_mul(string, string)'; expected dec_mul(Decimal, Decimal)",
  ],
  [
    'dec_mul(item.quantity, int("2"))',
    "refused: line 1, column 1: found no matching overload for 'dec_mul(Decimal, int)'; expected dec_mul(Decimal, Decimal)",
  ],
  ['dec_mul(item.quantity, dimensions.model)', 'fails: line 1, column 35: expected a decimal'],
  ['dec_mul(item.quantity, dimensions.batch)', 'fails: line 1, column 35: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
