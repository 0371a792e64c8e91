import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utcMonthAt } from './period.js';

describe('the calendar month in UTC', () => {
  test('of any instant begins on its first and ends where the next begins', () => {
    fc.assert(
      fc.property(fc.integer({ min: -4_000_000_000, max: 8_000_000_000 }), (atS) => {
        const { startS, endS } = utcMonthAt(atS);
        expect(startS <= atS && atS < endS).toBe(true);
        const [start, end] = [new Date(startS * 1_000), new Date(endS * 1_000)];
        expect([start.getUTCDate(), end.getUTCDate()]).toEqual([1, 1]);
        expect([startS % 86_400, endS % 86_400].map(Math.abs)).toEqual([0, 0]);
        expect((end.getUTCMonth() - start.getUTCMonth() + 12) % 12).toBe(1);
      }),
    );
  });

  test('takes fractions of a second', () => {
    const july = Date.UTC(2026, 6, 1) / 1_000;
    expect(utcMonthAt(july - 0.001).endS).toBe(july);
    expect(utcMonthAt(july).startS).toBe(july);
  });
});
