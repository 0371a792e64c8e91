import { describe, expect, it } from 'vitest';
import { isolated } from './bidi.js';

describe('an isolated text', () => {
  it.each(['', 'abc', 'שלום', '\u200e-\u200f'])('is held apart, and else as it was: "%s"', (text) =>
    expect(isolated(text)).toBe(`\u2068${text}\u2069`),
  );

  it.each([
    ['ends what holds it, and turns what follows', '\u2069\u202eabc'],
    ['opens what it does not end', 'a\u2067b\u2066c\u2068'],
    ['turns its own letters', '\u202aa\u202bb\u202cc\u202d'],
  ])('never %s', (_, text) => expect(isolated(text)).toBe(`\u2068${text.replace(/[^abc]/g, '')}\u2069`));
});
