import { expect, it } from 'vitest';
import { keyNumber } from './key-number.js';

it('is FNV-1a, which all processes must share', () => {
  expect(keyNumber('')).toBe(0x811c9dc5 | 0);
  expect(keyNumber('a')).toBe(0xe40c292c | 0);
  expect(keyNumber('foobar')).toBe(0xbf9cf968 | 0);
});
