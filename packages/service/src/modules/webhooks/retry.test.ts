import { describe, expect, it } from 'vitest';
import { deliveryPauseMs, RETRY_PAUSES_MS } from './retry.js';

const MS_PER_DAY = 86_400_000;

describe('the pauses between attempts', () => {
  it('grow, and take three days in all', () => {
    expect([...RETRY_PAUSES_MS].sort((a, b) => a - b)).toEqual(RETRY_PAUSES_MS);
    const days = RETRY_PAUSES_MS.reduce((sum, pauseMs) => sum + pauseMs, 0) / MS_PER_DAY;
    expect(days).toBeCloseTo(3, 1);
  });

  it('vary by a tenth, and end', () => {
    expect([0, 0.5, 1].map((random) => deliveryPauseMs(1, random))).toEqual([4_500, 5_000, 5_500]);
    expect(deliveryPauseMs(RETRY_PAUSES_MS.length, 0.5)).toBe(MS_PER_DAY);
    expect(deliveryPauseMs(RETRY_PAUSES_MS.length + 1, 0.5)).toBeUndefined();
  });
});
