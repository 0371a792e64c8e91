import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['int("-12") == -12', 'true'],
  ['int("007") == 7', 'true'],
  ['int("9223372036854775807") == 9223372036854775807', 'true'],
  ['int(7) == 7', 'true'],
  ['int(2.9) == 2', 'true'],
  ['int(-2.9) == -2', 'true'],
  ['int(dec("3.5")) == 3', 'true'],
  ['int(dec("-3.5")) == -3', 'true'],
  ['int(dec("-0.5")) == 0', 'true'],
  ['int(dimensions.seats) == 3', 'true'],
  ['int(dimensions.seats) % 2 == 1', 'true'],
  [
    'int("1.5") == 1',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int("") == 0',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int(" 1") == 1',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int("0x10") == 16',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int("9223372036854775808") == 1',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int(1e30) == 1',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int(1.0 / 0.0) == 1',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int(dec("9223372036854775808")) == 1',
    'refused: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int(true) == 1',
    "refused: line 1, column 1: found no matching overload for 'int(bool)'; expected int(int | double | string | Decimal)",
  ],
  [
    'int(null) == 1',
    "refused: line 1, column 1: found no matching overload for 'int(null)'; expected int(int | double | string | Decimal)",
  ],
  [
    'int([1]) == 1',
    "refused: line 1, column 1: found no matching overload for 'int(list<int>)'; expected int(int | double | string | Decimal)",
  ],
  [
    'int() == 1',
    "refused: line 1, column 1: found no matching overload for 'int()'; expected int(int | double | string | Decimal)",
  ],
  [
    'int(dimensions.model) == 1',
    'fails: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
  [
    'int(dimensions.batch) == 1',
    'fails: line 1, column 1: int() expects int, double, string, Decimal that can be converted',
  ],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
