import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dec_cmp(dec("1"), dec("2")) == -1', 'true'],
  ['dec_cmp(dec("2.0"), dec("2")) == 0', 'true'],
  ['dec_cmp(dec("-1"), dec("-2")) == 1', 'true'],
  ['dec_cmp(item.quantity, dec("1500.500000000000000000000001")) == -1', 'true'],
  ['dec_cmp(dimensions.seats, dec("4")) < 0', 'true'],
  ['dec_cmp(dyn(1), dyn(1.0)) == 0', 'true'],
  ['dec_cmp(dec("1e399"), dec("1e-400")) == 1', 'true'],
  [
    'dec_cmp(int("1"), int("2")) == 0',
    "refused: line 1, column 1: found no matching overload for 'dec_cmp(int, int)'; expected dec_cmp(Decimal, Decimal)",
  ],
  [
    'dec_cmp(dec("1")) == 0',
    "refused: line 1, column 1: found no matching overload for 'dec_cmp(Decimal)'; expected dec_cmp(Decimal, Decimal)",
  ],
  [
    'dec_cmp(dec("1"), "1") == 0',
    "refused: line 1, column 1: found no matching overload for 'dec_cmp(Decimal, string)'; expected dec_cmp(Decimal, Decimal)",
  ],
  [
    'dec_cmp(dec("1"), dec("2"))',
    'refused: line 1, column 1: expected an expression of type bool, found int',
  ],
  ['dec_cmp(dimensions.model, dec("1")) == 0', 'fails: line 1, column 20: expected a decimal'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
