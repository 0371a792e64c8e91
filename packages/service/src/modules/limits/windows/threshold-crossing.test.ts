import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stored } from '../../../testing/index.js';
import { crossingOf, firstAlertAt } from './threshold-crossing.js';

const NOTIFY_AT = { notifyAt: [50, 80] };

describe('the crossings of a window', () => {
  it.each<[string, string, string, number[], string | undefined]>([
    ['below the first share', '100', '49.999999999999999999', [], '50'],
    ['at a share', '100', '50', [50], '80'],
    ['past two shares at once', '100', '99', [50, 80], '100'],
    ['past everything at once', '100', '1000', [50, 80, 100], undefined],
    ['a limit of nothing', '0', '0', [50, 80, 100], undefined],
  ])('%s', (_, limit, used, percents, next) => {
    const first = firstAlertAt(NOTIFY_AT, stored(limit));
    expect(crossingOf(NOTIFY_AT, stored(limit), first, stored(used))).toEqual({
      percents,
      next: next === undefined ? undefined : stored(next),
    });
  });

  it('sends only alerts that were not sent', () => {
    const limit = stored('10');
    expect(crossingOf(NOTIFY_AT, limit, stored('8'), stored('9'))).toEqual({ percents: [80], next: limit });
    expect(crossingOf(NOTIFY_AT, limit, limit, limit)).toEqual({ percents: [100], next: undefined });
  });

  it('reaches a share that has more digits than usage can have with the next usage that can be', () => {
    const limit = 1n;
    expect(firstAlertAt(NOTIFY_AT, limit)).toBe(1n);
    expect(firstAlertAt({ notifyAt: [] }, limit)).toBe(1n);
    expect(firstAlertAt({ notifyAt: [1] }, 101n)).toBe(2n);
  });

  it('reports each percentage once on any way up and down', () => {
    const deltas = fc.array(fc.bigInt({ min: -30n, max: 60n }), { maxLength: 40 });
    const percents = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 5 });
    fc.assert(
      fc.property(deltas, percents, fc.bigInt({ min: 0n, max: 150n }), (steps, shares, limit) => {
        const rule = { notifyAt: shares.sort((a, b) => a - b) };
        let used = 0n;
        let most: bigint | undefined;
        let notice: bigint | undefined = firstAlertAt(rule, limit);
        const sent: number[] = [];
        for (const step of steps) {
          used += step;
          if (most === undefined || used > most) most = used;
          if (notice === undefined || used < notice) continue;
          const crossing = crossingOf(rule, limit, notice, used);
          sent.push(...crossing.percents);
          notice = crossing.next;
        }
        const reached = [...rule.notifyAt, 100].filter(
          (percent) => most !== undefined && most * 100n >= limit * BigInt(percent),
        );
        expect(sent).toEqual(reached);
      }),
    );
  });
});
