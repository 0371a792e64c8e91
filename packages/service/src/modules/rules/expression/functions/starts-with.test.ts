import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dimensions.model.startsWith("gpt-")', 'true'],
  ['dimensions.model.startsWith("")', 'true'],
  ['"".startsWith("a")', 'false'],
  ['"gpt".startsWith("gpt-")', 'false'],
  ['"GPT".startsWith("gpt")', 'false'],
  ['item.metric.startsWith("llm.")', 'true'],
  ['dimensions.model.startsWith(dimensions.model)', 'true'],
  ['dimensions["service-tier"].startsWith("fl")', 'true'],
  [
    '"a".startsWith(1)',
    "refused: line 1, column 1: found no matching overload for 'string.startsWith(int)'; expected string.startsWith(string)",
  ],
  [
    '"a".startsWith()',
    "refused: line 1, column 1: found no matching overload for 'string.startsWith()'; expected string.startsWith(string)",
  ],
  [
    'startsWith("a", "a")',
    "refused: line 1, column 1: found no matching overload for 'startsWith(string, string)'; expected string.startsWith(string)",
  ],
  [
    '1.startsWith("1")',
    "refused: line 1, column 1: found no matching overload for 'int.startsWith(string)'; expected string.startsWith(string)",
  ],
  ['dimensions.model.startsWith(1)', 'refused: line 1, column 29: expected string, found int'],
  ['dimensions.seats.startsWith("3")', 'fails: line 1, column 12: expected string'],
  ['dimensions.model.startsWith(dimensions.seats)', 'fails: line 1, column 40: expected string'],
  ['dimensions.absent.startsWith("a")', 'fails: line 1, column 12: the event has no dimension absent'],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
