import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['"GPT-4o".lowerAscii() == "gpt-4o"', 'true'],
  ['"".lowerAscii() == ""', 'true'],
  ['"@AZ[`az{".lowerAscii() == "@az[`az{"', 'true'],
  ['"ÄbC".lowerAscii() == "Äbc"', 'true'],
  ['"İ😀K".lowerAscii() == "İ😀k"', 'true'],
  ['dimensions.model.lowerAscii() == dimensions.model', 'true'],
  [
    '"a".lowerAscii(1) == "a"',
    "refused: line 1, column 1: found no matching overload for 'string.lowerAscii(int)'; expected string.lowerAscii()",
  ],
  [
    'lowerAscii("A") == "a"',
    "refused: line 1, column 1: found no matching overload for 'lowerAscii(string)'; expected string.lowerAscii()",
  ],
  [
    '1.lowerAscii() == "1"',
    "refused: line 1, column 1: found no matching overload for 'int.lowerAscii()'; expected string.lowerAscii()",
  ],
  ['dimensions.seats.lowerAscii() == "3.5"', 'fails: line 1, column 12: expected string'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
