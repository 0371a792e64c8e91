import type { AnalysisResult, AnalysisRow, Measure } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { chartDataOf } from './chart-data.js';
import { measureLabel } from './measures.js';
import { SeriesMaker } from './series.js';

const HOUR_S = 3_600;
const FROM = 1_790_000_100;
const FIRST = FROM - (FROM % HOUR_S);

const row = (fields: Partial<AnalysisRow>): AnalysisRow => ({
  ...{ bucket: FIRST, metric: 'tokens', unit: 'token', currency: 'USD', group: {} },
  ...fields,
});

function seriesOf(rows: AnalysisRow[], measure: Measure) {
  const result: AnalysisResult = {
    ...{ bucket_size: '1h', timezone: 'UTC', from: FROM, to: FIRST + 2 * HOUR_S },
    ...{ measures: [measure], split_by: ['metric'], group_by: ['bucket'] },
    ...{ rows, truncated: false, warnings: [] },
  };
  return new SeriesMaker().make(chartDataOf(result), measure).series;
}

it('measures whose parts do not add up have no total, and currencies are kept apart', () => {
  const rows = [
    row({ p95: '1' }),
    row({ currency: 'EUR', p95: '2' }),
    row({ bucket: FIRST + HOUR_S, p95: '4' }),
  ];
  expect(seriesOf(rows, 'p95').map(({ label, unit, total, exact }) => [label, unit, total, exact])).toEqual([
    ['tokens · USD', 'token', undefined, ['1', '4']],
    ['tokens · EUR', 'token', undefined, ['2', undefined]],
  ]);
  expect(seriesOf([row({ 'unique:model': 3 })], 'unique:model')).toMatchObject([
    { label: 'tokens', unit: '', total: undefined, exact: ['3', undefined] },
  ]);
});

it('counts have items as their unit, whatever is counted', () => {
  const rows = [row({ item_count: 2 }), row({ metric: 'calls', unit: 'call', item_count: 1 })];
  expect(seriesOf(rows, 'item_count')).toMatchObject([
    { label: 'tokens', unit: 'items', total: '2' },
    { label: 'calls', unit: 'items', total: '1' },
  ]);
});

it('each measure has a name', () => {
  expect(['p50', 'average', 'unique:@subject_id'].map((measure) => measureLabel(measure as Measure))).toEqual(
    ['Median', 'Average', 'Unique subject ID'],
  );
});
