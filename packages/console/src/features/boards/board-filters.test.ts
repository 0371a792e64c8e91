import type { Chart, DimensionFilter } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { type BoardFilters, boardFiltersAddress, boardFiltersOf, filteredChart } from './board-filters.js';

const chartWith = (filter: DimensionFilter | undefined) =>
  ({ query: { filters: filter === undefined ? {} : { model: filter } } }) as unknown as Chart;

/** The condition on the model that holds for a chart and its board. */
function combined(own: DimensionFilter | undefined, ofBoard: DimensionFilter): DimensionFilter | undefined {
  const { chart, conflict } = filteredChart(chartWith(own), { model: ofBoard });
  expect(conflict).toBe(chart.query.filters === undefined ? undefined : conflict);
  return conflict === undefined ? chart.query.filters?.model : undefined;
}

describe('filters of a board', () => {
  it.each<BoardFilters>([
    {},
    { model: { in: ['a', 'b & c'] } },
    { model: { not_in: ['ü'] }, region: { exists: false }, '@account_id': { in: ['acct_1'] } },
  ])('are the same after a visit to the address: %j', (filters) => {
    expect(boardFiltersOf(new URLSearchParams(boardFiltersAddress(filters)))).toEqual(filters);
  });

  it('on a subject have one name, however the chart and the address call it', () => {
    expect(boardFiltersOf(new URLSearchParams({ filters: '{"subject_id":{"in":["a"]}}' }))).toEqual({
      '@subject_id': { in: ['a'] },
    });
    const chart = { query: { filters: { subject_id: { in: ['a', 'b'] } } } } as unknown as Chart;
    const both = filteredChart(chart, { '@subject_id': { in: ['b', 'c'] } });
    expect(both.chart.query.filters).toEqual({ '@subject_id': { in: ['b'] } });
    expect(filteredChart(chart, { '@subject_id': { in: ['c'] } }).conflict).toBe('@subject_id');
  });

  it('without values are not part of the address', () => {
    expect(boardFiltersAddress({ model: { in: [] }, region: { exists: true } })).toEqual({
      filters: '{"region":{"exists":true}}',
    });
  });

  it.each([
    '',
    '{',
    '[]',
    'null',
    '{"model":{"in":[]}}',
    '{"model":{"in":[1]}}',
    '{"model":{"like":"a"}}',
    '{"model":{}}',
  ])('that nobody can have written are ignored: %s', (text) =>
    expect(boardFiltersOf(new URLSearchParams({ filters: text }))).toEqual({}),
  );

  it('are added to those of a chart', () => {
    const { chart } = filteredChart(chartWith({ in: ['a'] }), { region: { in: ['eu'] } });
    expect(chart.query.filters).toEqual({ model: { in: ['a'] }, region: { in: ['eu'] } });
  });

  it.each<[DimensionFilter | undefined, DimensionFilter, DimensionFilter | undefined]>([
    [undefined, { in: ['a'] }, { in: ['a'] }],
    [{ in: ['a', 'b'] }, { in: ['b', 'c'] }, { in: ['b'] }],
    [{ in: ['a'] }, { in: ['b'] }, undefined],
    [{ in: ['a', 'b'] }, { not_in: ['a'] }, { in: ['b'] }],
    [{ not_in: ['a'] }, { in: ['a', 'b'] }, { in: ['b'] }],
    [{ not_in: ['a'] }, { not_in: ['a', 'b'] }, { not_in: ['a', 'b'] }],
    [{ exists: true }, { in: ['a'] }, { in: ['a'] }],
    [{ exists: false }, { in: ['a'] }, undefined],
    [{ exists: true }, { exists: true }, { exists: true }],
    [{ exists: true }, { exists: false }, undefined],
    [{ exists: true }, { not_in: ['a'] }, undefined],
  ])('%j of the chart and %j of the board are %j', (own, ofBoard, both) => {
    expect(combined(own, ofBoard)).toEqual(both);
  });
});
