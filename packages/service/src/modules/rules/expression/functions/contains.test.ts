import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dimensions.model.contains("t-4")', 'true'],
  ['dimensions.model.contains("")', 'true'],
  ['"".contains("")', 'true'],
  ['dimensions.model.contains("T-4")', 'false'],
  ['"a.b".contains(".")', 'true'],
  ['"ab".contains(".")', 'false'],
  [
    '"a".contains(1)',
    "refused: line 1, column 1: found no matching overload for 'string.contains(int)'; expected string.contains(string)",
  ],
  [
    '"a".contains()',
    "refused: line 1, column 1: found no matching overload for 'string.contains()'; expected string.contains(string)",
  ],
  [
    '["a"].contains("a")',
    "refused: line 1, column 1: found no matching overload for 'list.contains(string)'; expected string.contains(string)",
  ],
  ['dimensions.model.contains(1)', 'refused: line 1, column 27: expected string, found int'],
  ['dimensions.seats.contains("3")', 'fails: line 1, column 12: expected string'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
