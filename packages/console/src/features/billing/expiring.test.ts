import type { Credit } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { firstEntries } from '../../api/every-page.js';
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
  const entries = [
    credit('0.1', NOW_S + 2 * DAY_S),
    credit('0.2', NOW_S + DAY_S),
    credit('7', null),
    credit('0', NOW_S + 1),
  ];
  expect(expiringSoon({ entries, total: 4 }, NOW_S)).toMatchObject({ amount: '0.3', firstAt: NOW_S + DAY_S });
  expect(expiringSoon({ entries: [credit('7', null)], total: 1 }, NOW_S)).toBeUndefined();
});

/** Reads a wallet with so many credits, newest first. The oldest one expires soon, and by default no other. */
function readWallet(creditCount: number, newest = credit('1', null)) {
  const credits = Array.from({ length: creditCount }, (_, place) =>
    place === creditCount - 1 ? credit('0.5', NOW_S + DAY_S) : place === 0 ? newest : credit('1', null),
  );
  return firstEntries(
    async ({ limit, offset }) => ({
      credits: credits.slice(offset, offset + limit),
      total_count: creditCount,
    }),
    (page) => page.credits,
  );
}

it.each([1, 100, 101, 1_000])('finds the oldest of %i credits', async (creditCount) => {
  expect(expiringSoon(await readWallet(creditCount), NOW_S)).toEqual({
    ...{ amount: '0.5', firstAt: NOW_S + DAY_S, isAtLeast: false },
  });
});

it('says that more may expire soon where older credits were not read', async () => {
  const wallet = await readWallet(1_001, credit('2', NOW_S + 2 * DAY_S));
  expect(expiringSoon(wallet, NOW_S)).toEqual({
    ...{ amount: '2', firstAt: NOW_S + 2 * DAY_S, isAtLeast: true },
  });
});
