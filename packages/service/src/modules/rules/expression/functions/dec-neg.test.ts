import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_neg(item.quantity)', '-1500.5'],
  ['dec_neg(dec("-2.50"))', '2.5'],
  ['dec_neg(dec("0"))', '0'],
  ['dec_neg(dec_neg(dec("7")))', '7'],
  ['dec_neg(dimensions.seats)', '-3.5'],
  ['dec_neg(dyn(1.5))', '-1.5'],
  [
    'dec_neg(int("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_neg(int)'; expected dec_neg(Decimal)",
  ],
  [
    'dec_neg("1")',
    "refused: line 1, column 1: found no matching overload for 'dec_neg(string)'; expected dec_neg(Decimal)",
  ],
  [
    'dec_neg()',
    "refused: line 1, column 1: found no matching overload for 'dec_neg()'; expected dec_neg(Decimal)",
  ],
  [
    'dec_neg(dec("1"), dec("2"))',
    "refused: line 1, column 1: found no matching overload for 'dec_neg(Decimal, Decimal)'; expected dec_neg(Decimal)",
  ],
  ['dec_neg(dimensions.model)', 'fails: line 1, column 20: expected a decimal'],
  ['dec_neg(dimensions.batch)', 'fails: line 1, column 20: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
