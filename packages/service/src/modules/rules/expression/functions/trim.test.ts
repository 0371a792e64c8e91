import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['"  a b ".trim() == "a b"', 'true'],
  ['"\\n\\ta\\r\\n".trim() == "a"', 'true'],
  ['"".trim() == ""', 'true'],
  ['"   ".trim() == ""', 'true'],
  ['"\\u00a0a\\u00a0".trim() == "a"', 'true'],
  ['dimensions.model.trim() == "gpt-4o"', 'true'],
  [
    '"a".trim("a") == ""',
    "refused: line 1, column 1: found no matching overload for 'string.trim(string)'; expected string.trim()",
  ],
  [
    'trim("a") == "a"',
    "refused: line 1, column 1: found no matching overload for 'trim(string)'; expected string.trim()",
  ],
  ['dimensions.seats.trim() == "3.5"', 'fails: line 1, column 12: expected string'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
