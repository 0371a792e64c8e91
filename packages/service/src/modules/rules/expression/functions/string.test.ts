import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['string(item.quantity) == "1500.5"', 'true'],
  ['string(dec("-0.50")) == "-0.5"', 'true'],
  ['string(dec("1e-7")) == "0.0000001"', 'true'],
  ['string(dimensions.seats) == "3.5"', 'true'],
  ['string(7) + string(true) == "7true"', 'true'],
  ['string(-7) == "-7"', 'true'],
  ['string(0.5) == "0.5"', 'true'],
  ['string("a") == "a"', 'true'],
  ['string(dimensions.batch) == "true"', 'true'],
  ['string(dimensions.model) == "gpt-4o"', 'true'],
  [
    'string([1]) == ""',
    "refused: line 1, column 1: found no matching overload for 'string(list<int>)'; expected string(string | int | double | bool | Decimal)",
  ],
  [
    'string(null) == ""',
    "refused: line 1, column 1: found no matching overload for 'string(null)'; expected string(string | int | double | bool | Decimal)",
  ],
  [
    'string({"a": 1}) == ""',
    "refused: line 1, column 1: found no matching overload for 'string(map<string, int>)'; expected string(string | int | double | bool | Decimal)",
  ],
  [
    'string() == ""',
    "refused: line 1, column 1: found no matching overload for 'string()'; expected string(string | int | double | bool | Decimal)",
  ],
  [
    'string(dyn([1])) == ""',
    'refused: line 1, column 1: string() expects string, int, double, bool, Decimal that can be converted',
  ],
  [
    'string(dyn(null)) == ""',
    'refused: line 1, column 1: string() expects string, int, double, bool, Decimal that can be converted',
  ],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
