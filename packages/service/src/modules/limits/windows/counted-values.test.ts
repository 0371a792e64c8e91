import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedQuantity, storedValue } from './counted-values.js';

const GREATEST = 10n ** 38n - 1n;
const quantity = fc.bigInt({ min: 1n, max: GREATEST });

describe('values as they are stored', () => {
  it('have the order of quantities', () => {
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(storedValue(a) < storedValue(b)).toBe(a < b);
      }),
    );
  });

  it('give quantities back', () => {
    fc.assert(
      fc.property(quantity, (value) => {
        expect(storedQuantity(storedValue(value))).toBe(value);
      }),
    );
    expect(storedValue(GREATEST)).toHaveLength(32);
  });

  it('have one length, whatever the text', () => {
    const texts = ['', 'a', 'x'.repeat(4_096), '\0', '‮'];
    expect(texts.map((text) => storedValue(text).length)).toEqual([32, 32, 32, 32, 32]);
    expect(new Set(texts.map(storedValue)).size).toBe(texts.length);
  });
});
