import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHANGED_RANGES_MAX, ChangedMinutes } from './changed-ranges.js';

function spansOf(times: readonly number[]) {
  const minutes = new ChangedMinutes();
  for (const time of times) minutes.add(time);
  return minutes.spans();
}

describe('ChangedMinutes', () => {
  it('joins minutes that follow each other', () => {
    expect(spansOf([])).toEqual([]);
    expect(spansOf([0, 59])).toEqual([{ from: 0, to: 60 }]);
    expect(spansOf([300, 61, 0, 120])).toEqual([
      { from: 0, to: 180 },
      { from: 300, to: 360 },
    ]);
  });

  it('joins the nearest where there are too many', () => {
    const lonely = Array.from({ length: CHANGED_RANGES_MAX - 1 }, (_, index) => index * 86_400);
    const [near, nearer] = [50 * 86_400, 50 * 86_400 + 120];
    const spans = spansOf([...lonely, near, nearer]);
    expect(spans).toHaveLength(CHANGED_RANGES_MAX);
    expect(spans.at(-1)).toEqual({ from: near, to: nearer + 60 });
  });

  it('covers every time, in whole minutes, in few spans that rise and do not meet', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200_000), { maxLength: 200 }), (times) => {
        const spans = spansOf(times);
        expect(spans.length).toBeLessThanOrEqual(CHANGED_RANGES_MAX);
        for (const time of times) expect(spans.some(({ from, to }) => from <= time && time < to)).toBe(true);
        for (const [index, { from, to }] of spans.entries()) {
          expect([from % 60, to % 60]).toEqual([0, 0]);
          expect(from).toBeGreaterThan(spans[index - 1]?.to ?? -1);
        }
      }),
    );
  });
});
