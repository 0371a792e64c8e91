import { describe, expect, it } from 'vitest';
import { envWith, matchOf, outcomeOf } from '../testing.js';

const TOO_LONG = 'expected a string of at most 4096 characters';

/** Dimensions of 4,096 and 4,097 characters. */
const env = envWith({
  dimensions: new Map([
    ['long', 'x'.repeat(4_096)],
    ['longer', 'x'.repeat(4_097)],
    ['other', `${'x'.repeat(4_096)}y`],
  ]),
});

it.each([
  'dimensions.long.startsWith("x")',
  'dimensions.long.startsWith(dimensions.long)',
  'dimensions.long.endsWith("x")',
  'dimensions.long.contains("xx")',
  'dimensions.long.lowerAscii() == dimensions.long',
  'dimensions.long.trim() == dimensions.long',
  'size(dimensions.long) == 4096',
  'dimensions.long + "" == dimensions.long',
  'dimensions.long < dimensions.longer',
  'dimensions.longer != dimensions.long',
  'dimensions.longer != "x"',
  'dimensions.long in dimensions || true',
])('computes with text of 4,096 characters: %s', (source) => {
  expect(matchOf(source, env)).toBe('true');
});

it.each([
  'dimensions.longer.startsWith("x")',
  'dimensions.long.startsWith(dimensions.longer)',
  'dimensions.longer.endsWith("x")',
  'dimensions.longer.contains("x")',
  'dimensions.longer.lowerAscii() == ""',
  'dimensions.longer.upperAscii() == ""',
  'dimensions.longer.trim() == ""',
  'size(dimensions.longer) > 3',
  'dimensions.long + "x" == ""',
  'dimensions.longer == dimensions.other',
  'dimensions.longer < dimensions.other',
  'dimensions.longer in [dimensions.other]',
])('does not compute with longer text: %s', (source) => {
  expect(matchOf(source, env)).toContain(TOO_LONG);
});

it.each([
  ['dimensions.long.contains(dimensions.long)', 'fails: line 1, column 37: '],
  [`"".contains("${'x'.repeat(257)}")`, 'refused: line 1, column 13: '],
])('looks for no more than 256 characters: %s', (source, place) => {
  expect(outcomeOf(source, 'match', env)).toBe(
    `${place}expected a string of at most 256 characters to look for`,
  );
  expect(matchOf(`dimensions.long.contains("${'x'.repeat(256)}")`, env)).toBe('true');
});

describe('what CEL and its extensions have, and this language has not', () => {
  it.each([
    [
      'dimensions.model.matches("^(a+)+$")',
      'matches() is not supported; use startsWith, endsWith or contains',
    ],
    ['"a,b".split(",") == ["a", "b"]', 'the function split() is not supported'],
    ['["a"].join() == "a"', 'the function join() is not supported'],
    ['"abc".substring(1) == "bc"', 'the function substring() is not supported'],
    ['"abc".indexOf("b") == 1', 'the function indexOf() is not supported'],
    ['"abc".replace("b", "c") == "acc"', 'found no matching overload'],
    ['"%d".format([1]) == "1"', 'found no matching overload'],
    ['bool("true")', 'the function bool() is not supported'],
  ])('%s', (source, reason) => {
    expect(outcomeOf(source, 'match')).toContain(reason);
  });
});
