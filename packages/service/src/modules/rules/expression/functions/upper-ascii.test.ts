import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['"gpt-4o".upperAscii() == "GPT-4O"', 'true'],
  ['"".upperAscii() == ""', 'true'],
  ['"@AZ[`az{".upperAscii() == "@AZ[`AZ{"', 'true'],
  ['"äbC".upperAscii() == "äBC"', 'true'],
  ['"ß😀k".upperAscii() == "ß😀K"', 'true'],
  ['dimensions.model.upperAscii() == "GPT-4O"', 'true'],
  [
    '"a".upperAscii(1) == "A"',
    "refused: line 1, column 1: found no matching overload for 'string.upperAscii(int)'; expected string.upperAscii()",
  ],
  ['dimensions.seats.upperAscii() == "3.5"', 'fails: line 1, column 12: expected string'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
