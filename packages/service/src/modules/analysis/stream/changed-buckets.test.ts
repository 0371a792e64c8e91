import type { AnalysisQuery } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { normalizeQuery } from '../normalize.js';
import { changedBuckets } from './changed-buckets.js';

const HOUR_S = 3_600;
const NOW_S = 1_750_000_000;

function changed(fields: Partial<AnalysisQuery>, ...spans: [from: number, to: number][]) {
  const query = { metrics: ['a'], time_range: { from: 0, to: 24 * HOUR_S }, bucket_size: '1h', ...fields };
  return changedBuckets(
    query,
    normalizeQuery(query, NOW_S),
    spans.map(([from, to]) => ({ from, to })),
  );
}

describe('changedBuckets', () => {
  it('finds the buckets that a span meets, in runs', () => {
    expect(changed({}, [HOUR_S - 60, HOUR_S + 60], [5 * HOUR_S, 5 * HOUR_S + 60])).toEqual([
      { from: 0, to: 2 * HOUR_S, starts: [0, HOUR_S] },
      { from: 5 * HOUR_S, to: 6 * HOUR_S, starts: [5 * HOUR_S] },
    ]);
  });

  it('finds nothing outside of the range', () => {
    const range = { time_range: { from: 100, to: 5_000 } };
    expect(changed(range, [0, 100], [5_000, 6_000])).toEqual([]);
    expect(changed(range, [0, 120])).toEqual([{ from: 100, to: HOUR_S, starts: [0] }]);
    expect(changed(range, [4_980, 5_040])).toEqual([{ from: HOUR_S, to: 5_000, starts: [HOUR_S] }]);
  });

  it('takes totals, and queries with a limit or a sum of quantities, whole', () => {
    expect(changed({ bucket_size: 'none' }, [0, 60])).toEqual([{ from: 0, to: 24 * HOUR_S, starts: [null] }]);
    const wholly = [{ limit: 5 }, { split_by: [], measures: ['quantity' as const] }];
    for (const asked of wholly) {
      const [whole] = changed(asked, [0, 60]);
      expect(whole).toMatchObject({ from: 0, to: 24 * HOUR_S });
      expect(whole?.starts).toHaveLength(24);
    }
    expect(changed({ split_by: [] }, [0, 60])[0]?.starts).toEqual([0]);
  });

  it('takes many runs as one', () => {
    const spans = [0, 2, 4, 6, 8].map((n): [number, number] => [(n + 1) * HOUR_S, (n + 1) * HOUR_S + 60]);
    const runs = changed({}, ...spans);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ from: HOUR_S, to: 10 * HOUR_S });
    expect(runs[0]?.starts).toEqual(Array.from({ length: 9 }, (_, n) => (n + 1) * HOUR_S));
  });

  it('adds the bucket that a sliding range cuts', () => {
    const sliding = { time_range: { last_seconds: 2 * HOUR_S } };
    const from = NOW_S + 1 - 2 * HOUR_S;
    const runs = changed(sliding, [NOW_S - 60, NOW_S]);
    expect(runs[0]).toMatchObject({ from, starts: [Math.floor(from / HOUR_S) * HOUR_S] });
    expect(runs.at(-1)?.to).toBe(NOW_S + 1);
  });
});
