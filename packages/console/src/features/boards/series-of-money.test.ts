import type { AnalysisResult, AnalysisRow, Measure } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { chartDataOf } from './chart-data.js';
import { SeriesMaker } from './series.js';

const HOUR_S = 3_600;
const FROM = 497_222 * HOUR_S;

const row = (fields: Partial<AnalysisRow>): AnalysisRow => ({
  ...{ bucket: FROM, metric: 'tokens', unit: 'token', currency: 'USD', group: {} },
  ...fields,
});

function seriesOf(rows: AnalysisRow[], measure: Measure) {
  const result: AnalysisResult = {
    ...{ bucket_size: '1h', timezone: 'UTC', from: FROM, to: FROM + HOUR_S },
    ...{ measures: ['margin', 'average'], split_by: ['metric'], group_by: ['bucket'] },
    ...{ rows, truncated: false, warnings: [] },
  };
  return new SeriesMaker().make(chartDataOf(result), measure).series;
}

it('margins of each currency are apart, and rows that only have costs have no quantities to draw', () => {
  const rows = [
    row({ margin: '0.1', average: '10' }),
    row({ currency: null, margin: '0', average: '10' }),
    row({ currency: 'EUR', margin: '-0.04', average: null }),
  ];
  expect(seriesOf(rows, 'margin')).toMatchObject([
    { unit: 'USD', total: '0.1' },
    { unit: 'EUR', total: '-0.04' },
  ]);
  expect(seriesOf(rows, 'average')).toHaveLength(2);
});
