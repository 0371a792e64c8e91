import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['double("1.5e2") == 150.0', 'true'],
  ['double("-0.5") == -0.5', 'true'],
  ['double(3) == 3.0', 'true'],
  ['double(0.1) == 0.1', 'true'],
  ['double("1e999") == 1.0 / 0.0', 'true'],
  [
    'double("x") == 1.0',
    'refused: line 1, column 1: double() expects double, int, string that can be converted',
  ],
  [
    'double("") == 0.0',
    'refused: line 1, column 1: double() expects double, int, string that can be converted',
  ],
  [
    'double("Infinity") > 1.0',
    'refused: line 1, column 1: double() expects double, int, string that can be converted',
  ],
  [
    'double("0x10") == 16.0',
    'refused: line 1, column 1: double() expects double, int, string that can be converted',
  ],
  [
    'double("1_0") == 10.0',
    'refused: line 1, column 1: double() expects double, int, string that can be converted',
  ],
  [
    'double(item.quantity) == 1.0',
    "refused: line 1, column 1: found no matching overload for 'double(Decimal)'; expected double(double | int | string)",
  ],
  [
    'double(true) == 1.0',
    "refused: line 1, column 1: found no matching overload for 'double(bool)'; expected double(double | int | string)",
  ],
  [
    'double() == 1.0',
    "refused: line 1, column 1: found no matching overload for 'double()'; expected double(double | int | string)",
  ],
  [
    'double(dimensions.model) == 1.0',
    'fails: line 1, column 1: double() expects double, int, string that can be converted',
  ],
  [
    'double(dimensions.seats) == 3.5',
    'fails: line 1, column 1: double() expects double, int, string that can be converted',
  ],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
