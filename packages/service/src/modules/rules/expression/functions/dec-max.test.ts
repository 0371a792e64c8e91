import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_max(dec("2"), dec("-3"))', '2'],
  ['dec_max(dec("-3"), dec("2"))', '2'],
  ['dec_max(dec("1.0"), dec("1"))', '1'],
  ['dec_max(dec("0.1"), dec("0.10000000000000000000000000001"))', '0.10000000000000000000000000001'],
  ['dec_max(item.quantity, dec("2000"))', '2000'],
  ['dec_max(item.quantity - dec("2000"), dec("0"))', '0'],
  ['dec_max(dimensions.seats, dec("4"))', '4'],
  ['dec_max(dyn(1), dyn(2))', '2'],
  [
    'dec_max(dec("1"), int("2"))',
    "refused: line 1, column 1: found no matching overload for 'dec_max(Decimal, int)'; expected dec_max(Decimal, Decimal)",
  ],
  [
    'dec_max("1", "2")',
    "refused: line 1, column 1: found no matching overload for 'dec_max(string, string)'; expected dec_max(Decimal, Decimal)",
  ],
  [
    'dec_max(dec("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_max(Decimal)'; expected dec_max(Decimal, Decimal)",
  ],
  ['dec_max(dimensions.model, dec("1"))', 'fails: line 1, column 20: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
