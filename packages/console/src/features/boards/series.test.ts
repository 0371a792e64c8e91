import type { AnalysisResult, AnalysisRow } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { seriesOf } from './series.js';

const FROM = 1_790_000_100;
const HOUR_S = 3_600;
const FIRST = FROM - (FROM % HOUR_S);

const row = (fields: Partial<AnalysisRow>): AnalysisRow => ({
  bucket: FIRST,
  metric: 'tokens',
  unit: 'token',
  currency: 'USD',
  group: {},
  item_count: 1,
  quantity: '10',
  amount: '0.1',
  ...fields,
});

const result = (rows: readonly AnalysisRow[], hours = 3): AnalysisResult => ({
  bucket_size: '1h',
  timezone: 'UTC',
  from: FROM,
  to: FIRST + hours * HOUR_S,
  measures: ['item_count', 'quantity', 'amount'],
  group_by: ['bucket'],
  rows: [...rows],
  truncated: false,
});

describe('the series of a chart', () => {
  it('are zero where nothing happened, from the first bucket to the last', () => {
    const { times, series } = seriesOf(result([row({ bucket: FIRST + HOUR_S })]), 'amount');
    expect(times).toEqual([FIRST, FIRST + HOUR_S, FIRST + 2 * HOUR_S]);
    expect(series).toEqual([
      { label: 'tokens', unit: 'USD', values: [0, 0.1, 0], exact: ['0', '0.1', '0'], total: '0.1' },
    ]);
  });

  it('add exactly, and never over currencies or metrics', () => {
    const rows = [
      row({ amount: '0.1' }),
      row({ bucket: FIRST + HOUR_S, amount: '0.2' }),
      row({ currency: 'EUR', amount: '5' }),
      row({ metric: 'calls', amount: '7' }),
    ];
    const { series } = seriesOf(result(rows), 'amount');
    expect(series.map(({ label, unit, total }) => [label, unit, total])).toEqual([
      ['calls', 'USD', '7'],
      ['tokens', 'EUR', '5'],
      ['tokens', 'USD', '0.3'],
    ]);
  });

  it('are one for a quantity, whatever it was priced in', () => {
    const rows = [row({ quantity: '1' }), row({ currency: null, quantity: '2' })];
    const { series } = seriesOf(result(rows), 'quantity');
    expect(series.map(({ unit, total }) => [unit, total])).toEqual([['token', '3']]);
  });

  it('leave out what has no price, where amounts are drawn', () => {
    expect(seriesOf(result([row({ currency: null, amount: '0' })]), 'amount').series).toEqual([]);
  });

  it('are named by their group, and by their metric where there are several', () => {
    const a = row({ group: { model: 'a', region: null } });
    expect(seriesOf(result([a]), 'amount').series[0]?.label).toBe('a · (none)');
    const both = seriesOf(result([a, row({ metric: 'calls', group: { model: 'b' } })]), 'amount');
    expect(both.series.map(({ label }) => label).sort()).toEqual(['calls · b', 'tokens · a · (none)']);
  });

  it('do not double a bucket at the end of summer time', () => {
    // A local day of 25 hours lies between these two.
    const days = [FIRST, FIRST + 25 * HOUR_S].map((bucket) => row({ bucket }));
    const answer = { ...result(days), bucket_size: '1d', to: FIRST + 26 * HOUR_S };
    expect(seriesOf(answer, 'amount').times).toEqual([FIRST, FIRST + 25 * HOUR_S]);
  });
});
