import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['size("") == 0', 'true'],
  ['size("abc") == 3', 'true'],
  ['size("a€😀") == 3', 'true'],
  ['"😀😀".size() == 2', 'true'],
  ['size("e\\u0301") == 2', 'true'],
  ['dimensions.model.size() == 6', 'true'],
  ['size([1, 2]) == 2', 'true'],
  ['size([]) == 0', 'true'],
  ['[1, 2].size() == 2', 'true'],
  ['size(dimensions) == 5', 'true'],
  ['dimensions.size() == 5', 'true'],
  ['size({"a": 1}) == 1', 'true'],
  ['size(dyn("ab")) == 2', 'true'],
  [
    'size(1) == 1',
    "refused: line 1, column 1: found no matching overload for 'size(int)'; expected size(string | list | map) or (string | list | map).size()",
  ],
  [
    'size(item.quantity) == 1',
    "refused: line 1, column 1: found no matching overload for 'size(Decimal)'; expected size(string | list | map) or (string | list | map).size()",
  ],
  [
    'size(null) == 0',
    "refused: line 1, column 1: found no matching overload for 'size(null)'; expected size(string | list | map) or (string | list | map).size()",
  ],
  [
    'size() == 0',
    "refused: line 1, column 1: found no matching overload for 'size()'; expected size(string | list | map) or (string | list | map).size()",
  ],
  [
    'size("a", "b") == 0',
    "refused: line 1, column 1: found no matching overload for 'size(string, string)'; expected size(string | list | map) or (string | list | map).size()",
  ],
  [
    'item.quantity.size() == 0',
    "refused: line 1, column 1: found no matching overload for 'Decimal.size()'; expected size(string | list | map) or (string | list | map).size()",
  ],
  ['size(dimensions.seats) == 1', 'fails: line 1, column 1: size() expects a string, list or map'],
  ['size(dimensions.batch) == 1', 'fails: line 1, column 1: size() expects a string, list or map'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
