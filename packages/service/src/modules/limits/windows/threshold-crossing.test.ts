import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stored } from '../../../testing/index.js';
import { firstAlertAt, thresholdChangeOf } from './threshold-crossing.js';

/** Without raises. */
const changeOf = (
  rule: Parameters<typeof thresholdChangeOf>[0],
  limit: bigint,
  notice: bigint | undefined,
  used: bigint,
) => thresholdChangeOf(rule, { limit, raised: 0n }, notice, used);
const NOTIFY_AT = { notifyAt: [50, 80], measure: 'amount' } as const;

describe('the thresholds that usage passes', () => {
  it.each<[string, string, string, number[], string | undefined]>([
    ['at a share', '100', '50', [50], '80'],
    ['past two shares at once', '100', '99', [50, 80], '100'],
    ['past everything at once', '100', '1000', [50, 80, 100], undefined],
    ['a limit of nothing', '0', '0', [50, 80, 100], undefined],
  ])('%s', (_, limit, used, reached, next) => {
    const first = firstAlertAt(NOTIFY_AT, stored(limit));
    expect(changeOf(NOTIFY_AT, stored(limit), first, stored(used))).toEqual({
      reached,
      recovered: [],
      next: next === undefined ? undefined : stored(next),
    });
  });

  it.each<[string, string, string | undefined, string, number[], string]>([
    ['below the limit alone', '100', undefined, '99.999999999999999999', [100], '100'],
    ['to a share, which is still reached', '100', undefined, '80', [100], '100'],
    ['below two shares at once', '100', '100', '49.999999999999999999', [50, 80], '50'],
    ['below everything at once', '100', undefined, '-3', [50, 80, 100], '50'],
    ['below a limit of nothing', '0', undefined, '-0.000000000000000001', [50, 80, 100], '0'],
  ])('downwards, %s', (_, limit, notice, used, recovered, next) => {
    const before = notice === undefined ? undefined : stored(notice);
    expect(changeOf(NOTIFY_AT, stored(limit), before, stored(used))).toEqual({
      reached: [],
      recovered,
      next: stored(next),
    });
  });

  it('lie above the limit of a greatest quantity, and at its shares', () => {
    const rule = { ...NOTIFY_AT, measure: 'max' } as const;
    const limit = stored('100');
    expect(changeOf(rule, limit, stored('50'), limit)).toMatchObject({
      reached: [50, 80],
      next: limit + 1n,
    });
    expect(changeOf(rule, limit, limit + 1n, limit + 1n)).toMatchObject({
      reached: [100],
      next: undefined,
    });
    expect(changeOf(rule, limit, undefined, limit)).toMatchObject({
      recovered: [100],
      next: limit + 1n,
    });
    expect(firstAlertAt({ ...rule, notifyAt: [] }, 0n)).toBe(1n);
  });

  it('are shares of the raised limit, and remember which shares were reached', () => {
    const limit = stored('100');
    const raised = stored('100');
    const at = (used: string, notice: bigint | undefined, by = raised) =>
      thresholdChangeOf(NOTIFY_AT, { limit, raised: by }, notice, stored(used));
    expect(at('99', stored('50'))).toBeUndefined();
    expect(at('160', stored('50'))).toEqual({ reached: [50, 80], recovered: [], next: limit });
    expect(at('160', limit)).toBeUndefined();
    expect(at('160', limit, 0n)).toEqual({ reached: [100], recovered: [], next: undefined });
    expect(at('120', undefined)).toEqual({ reached: [], recovered: [80, 100], next: stored('80') });
    expect(at('120', stored('80'), 0n)).toMatchObject({ reached: [80, 100] });
  });

  it('are none while usage stays between them', () => {
    expect(changeOf(NOTIFY_AT, stored('100'), stored('50'), stored('49.9'))).toBeUndefined();
    expect(changeOf(NOTIFY_AT, stored('100'), stored('80'), stored('50'))).toBeUndefined();
    expect(changeOf(NOTIFY_AT, stored('100'), undefined, stored('100'))).toBeUndefined();
  });

  it('leave out those that were reached before', () => {
    const limit = stored('10');
    expect(changeOf(NOTIFY_AT, limit, stored('8'), stored('9'))).toMatchObject({
      reached: [80],
      next: limit,
    });
    expect(changeOf(NOTIFY_AT, limit, limit, limit)).toMatchObject({
      reached: [100],
      next: undefined,
    });
  });

  it('are reached with the next usage that can be, where a share has more digits than usage can have', () => {
    const limit = 1n;
    expect(firstAlertAt(NOTIFY_AT, limit)).toBe(1n);
    expect(firstAlertAt({ ...NOTIFY_AT, notifyAt: [] }, limit)).toBe(1n);
    expect(firstAlertAt({ ...NOTIFY_AT, notifyAt: [1] }, 101n)).toBe(2n);
  });

  it('are each reached and left in turn on any way up and down', () => {
    const deltas = fc.array(fc.bigInt({ min: -60n, max: 60n }), { maxLength: 40 });
    const percents = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 5 });
    fc.assert(
      fc.property(deltas, percents, fc.bigInt({ min: 0n, max: 150n }), (steps, shares, limit) => {
        const rule = { ...NOTIFY_AT, notifyAt: shares.sort((a, b) => a - b) };
        const all = [...rule.notifyAt, 100];
        const isReached = (percent: number, used: bigint) => used * 100n >= limit * BigInt(percent);
        let used = 0n;
        let notice: bigint | undefined = firstAlertAt(rule, limit);
        let before: number[] = [];
        for (const step of steps) {
          used += step;
          const now = all.filter((percent) => isReached(percent, used));
          const change = changeOf(rule, limit, notice, used);
          expect(change?.reached ?? []).toEqual(now.filter((percent) => !before.includes(percent)));
          expect(change?.recovered ?? []).toEqual(before.filter((percent) => !now.includes(percent)));
          if (change !== undefined) notice = change.next;
          before = now;
        }
      }),
    );
  });
});
