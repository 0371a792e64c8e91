import type { Chart } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { followedCharts } from './board-stream.js';

const chartOf = (id: string, metric = 'a') =>
  ({ chart_id: id, query: { metrics: [metric], bucket_size: 'auto' } }) as unknown as Chart;
const followed = (charts: readonly Chart[]) =>
  followedCharts(charts, 'UTC', { last_seconds: 60 }).map(({ chart_id: id }) => id);

it('a stream follows so many charts', () => {
  const ids = Array.from({ length: 20 }, (_, index) => String(index));
  expect(followed(ids.map((id) => chartOf(id)))).toEqual(ids.slice(0, 16));
});

it('a stream follows what an URL can hold, and the others refresh by themselves', () => {
  const long = 'ü'.repeat(900);
  expect(
    followed([chartOf('a', long), chartOf('b', long), chartOf('c', `${long}${long}`), chartOf('d')]),
  ).toEqual(['a', 'd']);
});
