import { expect, it } from 'vitest';
import { parseValuePattern, parseValuePatterns } from './value-pattern.js';

it.each([
  ['gpt-5', false, 'gpt-5'],
  ['gpt-5*', true, 'gpt-5'],
  ['*', true, ''],
  ['a**', true, 'a*'],
  ['a*b', false, 'a*b'],
  ['a\\*', false, 'a*'],
  ['\\*', false, '*'],
  ['a\\*b*', true, 'a*b'],
  ['a\\b', false, 'a\\b'],
])('%s', (written, isPrefix, text) => {
  expect(parseValuePattern(written)).toEqual({ isPrefix, text });
});

it('sorts a list into values and prefixes', () => {
  expect(parseValuePatterns(['a', 'b*', 'c\\*'])).toEqual({ exact: ['a', 'c*'], prefixes: ['b'] });
});
