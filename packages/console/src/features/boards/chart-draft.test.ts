import type { Chart } from '@tollgate/contract';
import { expect, it } from 'vitest';
import {
  canQuery,
  chartDraft,
  chartInput,
  chosenMeasures,
  EMPTY_DRAFT,
  METRICS_MODES,
  queryOf,
} from './chart-draft.js';

it('sends no condition that has no value yet, and every other', () => {
  const whole = { region: { in: ['eu, west'] }, model: { not_in: ['a'] }, team: { exists: false } };
  const draft = { ...EMPTY_DRAFT, filters: { ...whole, kind: { in: [] }, plan: { not_in: [] } } };
  expect(chartInput(draft, 'brd_1').filters).toEqual(whole);
  expect(queryOf(draft).filters).toEqual(whole);
});

it('begins with the amounts of all metrics, added up', () => {
  expect(queryOf(EMPTY_DRAFT)).toMatchObject({ split_by: [], measures: ['amount'] });
  expect(queryOf(EMPTY_DRAFT)).not.toHaveProperty('metrics');
  expect(canQuery(EMPTY_DRAFT)).toBe(true);
});

it.each(METRICS_MODES)('keeps metrics that are %s', (metricsMode) => {
  const draft = { ...EMPTY_DRAFT, metricsMode, metrics: ['a', 'b'] };
  const { metrics, split_by: splitBy } = chartInput(draft, 'brd_1');
  const chart = { ...CHART, metrics: metrics ?? null, split_by: splitBy } as Chart;
  expect(chartDraft(chart)).toMatchObject({ metricsMode, metrics: metrics ?? [] });
  expect(canQuery({ ...draft, metrics: [] })).toBe(metricsMode.startsWith('all'));
});

it('lists names of subjects once, in the form with an @', () => {
  const chart = {
    ...CHART,
    group_by: ['bucket', 'subject_id', '@subject_id', 'model'],
    measures: ['unique:subject_type', 'amount'],
    filters: { subject_id: { in: ['a'] } },
    split_by: [],
  } as unknown as Chart;
  expect(chartDraft(chart)).toMatchObject({
    groupBy: ['@subject_id', 'model'],
    measures: ['unique:@subject_type', 'amount'],
    filters: { '@subject_id': { in: ['a'] } },
  });
});

it('keeps the first measure while others are chosen', () => {
  const isSum = (measure: string) => !measure.startsWith('unique:');
  expect(chosenMeasures(['p95', 'unique:model', 'amount'], ['amount', 'p95', 'cost'], isSum)).toEqual([
    'p95',
    'unique:model',
    'amount',
    'cost',
  ]);
  expect(chosenMeasures(['p95', 'unique:model'], [], isSum)).toEqual(['unique:model']);
});

const CHART = { title: 'Cost', group_by: ['bucket'], measures: ['amount'], filters: {} };
