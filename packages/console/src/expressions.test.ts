import { describe, expect, it } from 'vitest';
import { priceText, quantityText } from './expressions.js';

describe('the text of a price', () => {
  it('names the units that it is for, unless it is for one', () => {
    expect(priceText('dec("0.25")', '1000000')).toBe('dec("0.25") per 1,000,000');
    expect(priceText('dec("0.25")', 1_000)).toBe('dec("0.25") per 1,000');
    expect(priceText('dec("0.25")', null)).toBe('dec("0.25")');
    expect(priceText('dec("0.25")', undefined)).toBe('dec("0.25")');
  });
});

describe('the text of a quantity', () => {
  const none = { path: null, sum_paths: [], less_paths: [] };

  it('adds and subtracts the paths', () => {
    expect(quantityText({ path: 'all', sum_paths: ['l[*].n'], less_paths: ['a', 'b'] })).toBe(
      'all + l[*].n − a − b',
    );
    expect(quantityText({ ...none, path: 'n' })).toBe('n');
  });

  it('has lists alone as well', () => {
    expect(quantityText({ ...none, sum_paths: ['l[*].n', 'm[*].n'], less_paths: ['a'] })).toBe(
      'l[*].n + m[*].n − a',
    );
  });

  it('is absent where nothing was read', () => {
    expect(quantityText(none)).toBeNull();
  });
});
