import type { Credit } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { creditState, expiringSoon } from './expiring.js';

const NOW_S = 1_000_000_000;
const DAY_S = 86_400;
const credit = (remaining: string, expires_at: number | null, expired_at: number | null = null) =>
  ({ remaining, expires_at, expired_at }) as Credit;

it('returns whether a credit is active, used or expires soon', () => {
  expect(creditState(credit('1', null), NOW_S)).toBe('active');
  expect(creditState(credit('1', NOW_S + 15 * DAY_S), NOW_S)).toBe('active');
  expect(creditState(credit('1', NOW_S + 14 * DAY_S), NOW_S)).toBe('expiring');
  expect(creditState(credit('0', NOW_S + 1), NOW_S)).toBe('used');
  expect(creditState(credit('0', NOW_S - 1, NOW_S), NOW_S)).toBe('expired');
});

it('adds up exactly what ends soon', () => {
  const credits = [
    credit('0.1', NOW_S + 2 * DAY_S),
    credit('0.2', NOW_S + DAY_S),
    credit('7', null),
    credit('0', NOW_S + 1),
  ];
  expect(expiringSoon(credits, NOW_S)).toEqual({ amount: '0.3', firstAt: NOW_S + DAY_S });
  expect(expiringSoon([credit('7', null)], NOW_S)).toBeUndefined();
});
