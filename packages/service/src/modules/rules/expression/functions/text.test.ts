import { expect, it } from 'vitest';
import { envWith, matchOf, refusalOf } from '../testing.js';

it.each([
  ['dimensions.model.startsWith("gpt-")', 'true'],
  ['dimensions.model.endsWith("4o")', 'true'],
  ['dimensions.model.contains("t-4")', 'true'],
  ['dimensions.model.contains("")', 'true'],
  ['item.metric.startsWith("llm.")', 'true'],
  ['"ÄbC".lowerAscii() == "Äbc"', 'true'],
  ['"äbC".upperAscii() == "äBC"', 'true'],
  ['"  a b ".trim() == "a b"', 'true'],
  ['"a" + "b" == "ab"', 'true'],
  ['size("a€😀") == 3', 'true'],
  ['dimensions.model.size() == 6', 'true'],
  ['"a" < "b"', 'true'],
  ['"b" <= "a"', 'false'],
])('%s is %s', (source, expected) => {
  expect(matchOf(source)).toBe(expected);
});

it('fails for a dimension that is no text', () => {
  expect(matchOf('dimensions.seats.startsWith("3")')).toBe('fails: line 1, column 12: expected string');
});

it('does not compute with very long text', () => {
  const env = envWith({
    dimensions: new Map([
      ['long', 'x'.repeat(5_000)],
      ['other', 'x'.repeat(5_000)],
    ]),
  });
  for (const source of [
    'dimensions.long.contains("y")',
    'dimensions.long + "y" == "y"',
    'size(dimensions.long) > 3',
    'dimensions.long == dimensions.other',
    'dimensions.long < dimensions.other',
  ]) {
    expect(matchOf(source, env)).toContain('expected a string of at most 4096 characters');
  }
  expect(matchOf('dimensions.long == "y"', env)).toBe('false');
});

it.each([
  ['dimensions.model.matches("^(a+)+$")', 'matches() is not supported; use startsWith, endsWith or contains'],
  ['dimensions.model.startsWith(1)', 'line 1, column 29: expected string, found int'],
  ['"a".startsWith(1)', 'expected string.startsWith(string)'],
  ['"a,b".split(",") == ["a", "b"]', 'the function split() is not supported'],
  ['["a"].join() == "a"', 'the function join() is not supported'],
  ['"abc".substring(1) == "bc"', 'the function substring() is not supported'],
])('%s is refused', (source, reason) => {
  expect(refusalOf(source, 'match')).toContain(reason);
});
