import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesGlob } from './model-selection.js';

it.each([
  ['gpt-4o', 'gpt-4o', true],
  ['gpt-4o', 'gpt-4o-mini', false],
  ['gpt-4o*', 'gpt-4o', true],
  ['gpt-4o*', 'gpt-4o-mini', true],
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['?', '', false],
  ['gpt-?', 'gpt-5', true],
  ['gpt-?', 'gpt-50', false],
  ['*/claude-*', 'anthropic/claude-3', true],
  ['*mini', 'mini-mini', true],
  ['a.b', 'axb', false],
  ['(a+)+$', '(a+)+$', true],
  ['**a**', 'bab', true],
])('%s of %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected);
});

it('matches what a regular expression does', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (glob, name) => {
      const expression = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      expect(matchesGlob(glob, name)).toBe(expression.test(name));
    }),
  );
});

it('ends soon for a pattern made to take long', () => {
  expect(matchesGlob(`${'*a'.repeat(2_000)}b`, 'a'.repeat(5_000))).toBe(false);
});
