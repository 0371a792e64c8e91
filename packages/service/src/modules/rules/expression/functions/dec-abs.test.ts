import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_abs(dec("-2.50"))', '2.5'],
  ['dec_abs(dec("2.5"))', '2.5'],
  ['dec_abs(dec("0"))', '0'],
  ['dec_abs(dec("-0.000000000000000001"))', '0.000000000000000001'],
  ['dec_abs(item.quantity - dec("2000"))', '499.5'],
  ['dec_abs(dimensions.seats)', '3.5'],
  ['dec_abs(dyn(-3))', '3'],
  [
    'dec_abs(int("-1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_abs(int)'; expected dec_abs(Decimal)",
  ],
  [
    'dec_abs("1")',
    "refused: line 1, column 1: found no matching overload for 'dec_abs(string)'; expected dec_abs(Decimal)",
  ],
  [
    'dec_abs()',
    "refused: line 1, column 1: found no matching overload for 'dec_abs()'; expected dec_abs(Decimal)",
  ],
  ['dec_abs(dimensions.model)', 'fails: line 1, column 20: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
