import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_min(dec("2"), dec("-3"))', '-3'],
  ['dec_min(dec("-3"), dec("2"))', '-3'],
  ['dec_min(dec("1.0"), dec("1"))', '1'],
  ['dec_min(dec("0.1"), dec("0.10000000000000000000000000001"))', '0.1'],
  ['dec_min(item.quantity, dec("1000"))', '1000'],
  ['dec_min(dimensions.seats, dec("4"))', '3.5'],
  ['dec_min(dyn(1), dyn(2))', '1'],
  [
    'dec_min(dec("1"), int("2"))',
    "refused: line 1, column 1: found no matching overload for 'dec_min(Decimal, int)'; expected dec_min(Decimal, Decimal)",
  ],
  [
    'dec_min("1", "2")',
    "refused: line 1, column 1: found no matching overload for 'dec_min(string, string)'; expected dec_min(Decimal, Decimal)",
  ],
  [
    'dec_min(dec("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_min(Decimal)'; expected dec_min(Decimal, Decimal)",
  ],
  [
    'dec_min(dec("1"), dec("2"), dec("3"))',
    "refused: line 1, column 1: found no matching overload for 'dec_min(Decimal, Decimal, Decimal)'; expected dec_min(Decimal, Decimal)",
  ],
  ['dec_min(dimensions.model, dec("1"))', 'fails: line 1, column 20: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
