import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dimensions.model.endsWith("4o")', 'true'],
  ['dimensions.model.endsWith("")', 'true'],
  ['"4o".endsWith("gpt-4o")', 'false'],
  ['dimensions.model.endsWith("-mini")', 'false'],
  ['item.metric.endsWith("_tokens")', 'true'],
  [
    '"a".endsWith(1)',
    "refused: line 1, column 1: found no matching overload for 'string.endsWith(int)'; expected string.endsWith(string)",
  ],
  [
    '"a".endsWith()',
    "refused: line 1, column 1: found no matching overload for 'string.endsWith()'; expected string.endsWith(string)",
  ],
  [
    'endsWith("a", "a")',
    "refused: line 1, column 1: found no matching overload for 'endsWith(string, string)'; expected string.endsWith(string)",
  ],
  ['dimensions.model.endsWith(1)', 'refused: line 1, column 27: expected string, found int'],
  ['dimensions.seats.endsWith("5")', 'fails: line 1, column 12: expected string'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
