import { expect, it } from 'vitest';
import { limitStatusOf, shareOf } from './limit-status.js';

const limit = (used_amount: string, reserved_amount = '0', exceeded = false) => ({
  ...{ used_amount, reserved_amount, exceeded },
  limit_amount: '10',
});

it('is near once four fifths of a limit are used or reserved', () => {
  expect(limitStatusOf(limit('7.9'))).toBe('ok');
  expect(limitStatusOf(limit('8'))).toBe('near');
  expect(limitStatusOf(limit('5', '3'))).toBe('near');
  expect(limitStatusOf(limit('10', '0', true))).toBe('exceeded');
});

it('draws nothing below zero, and all of it where nothing is allowed', () => {
  expect(shareOf('-5', '10')).toBe(0);
  expect(shareOf('1', '0')).toBe(1);
  expect(shareOf('0', '0')).toBe(0);
});
