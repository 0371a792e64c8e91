import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_add(dec("0.1"), dec("0.2"))', '0.3'],
  ['dec_add(dec("-0.1"), dec("0.1"))', '0'],
  [
    'dec_add(dec("99999999999999999999"), dec("0.000000000000000001"))',
    '99999999999999999999.000000000000000001',
  ],
  ['dec_add(item.quantity, dec("-2000"))', '-499.5'],
  ['dec_add(dimensions.seats, dec("1"))', '4.5'],
  ['dec_add(dyn(1), dyn(0.5))', '1.5'],
  ['dec_add(dyn(dec("1")), dyn(2))', '3'],
  [
    'dec_add(dec("9e399"), dec("9e399"))',
    'refused: line 1, column 1: the decimal is out of range: more than 400 digits',
  ],
  [
    'dec_add(dec("1e399"), dec("1e-400"))',
    'refused: line 1, column 1: the decimal is out of range: more than 400 digits',
  ],
  [
    'dec_add(dec("1"), int("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_add(Decimal, int)'; expected dec_add(Decimal, Decimal)",
  ],
  [
    'dec_add(dec("1"), double("0.5"))',
    "refused: line 1, column 1: found no matching overload for 'dec_add(Decimal, double)'; expected dec_add(Decimal, Decimal)",
  ],
  [
    'dec_add("1", "2")',
    "refused: line 1, column 1: found no matching overload for 'dec_add(string, string)'; expected dec_add(Decimal, Decimal)",
  ],
  [
    'dec_add(dec("1"))',
    "refused: line 1, column 1: found no matching overload for 'dec_add(Decimal)'; expected dec_add(Decimal, Decimal)",
  ],
  [
    'dec_add(dec("1"), dec("2"), dec("3"))',
    "refused: line 1, column 1: found no matching overload for 'dec_add(Decimal, Decimal, Decimal)'; expected dec_add(Decimal, Decimal)",
  ],
  [
    'dec_add(dec("1"), null)',
    "refused: line 1, column 1: found no matching overload for 'dec_add(Decimal, null)'; expected dec_add(Decimal, Decimal)",
  ],
  ['dec_add(dyn("1"), dec("1"))', 'refused: line 1, column 9: expected a decimal'],
  ['dec_add(dimensions.model, dec("1"))', 'fails: line 1, column 20: expected a decimal'],
  ['dec_add(dec("1"), dimensions.batch)', 'fails: line 1, column 30: expected a decimal'],
  ['dec_add(dec("1"), dimensions.absent)', 'fails: line 1, column 30: the event has no dimension absent'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'amount')).toBe(outcome);
});
