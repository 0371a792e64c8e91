import type { AnalysisQuery } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../kernel/errors.js';
import { normalizeQuery, resultGroupBy } from './normalize.js';

const NOW_S = 1_750_000_000;
const HOUR_S = 3_600;
const DAY_S = 86_400;

const query = (overrides: Partial<AnalysisQuery> = {}): AnalysisQuery => ({
  metrics: ['llm.tokens'],
  time_range: { last_seconds: HOUR_S },
  ...overrides,
});

const normalized = (overrides: Partial<AnalysisQuery> = {}) => normalizeQuery(query(overrides), NOW_S);

describe('normalizeQuery', () => {
  it('ends last_seconds with the current second', () => {
    expect(normalized()).toMatchObject({ from: NOW_S + 1 - HOUR_S, to: NOW_S + 1, timezone: 'UTC' });
  });

  it('returns each measure once, in the requested order, all of them by default', () => {
    expect(normalized().measures).toEqual(['item_count', 'quantity', 'amount']);
    expect(normalized({ measures: ['amount', 'item_count', 'amount'] }).measures).toEqual([
      'amount',
      'item_count',
    ]);
  });

  it('asks for all metrics where none is named, and for no quantity of metrics that are added up', () => {
    const { metrics: _, ...rest } = query();
    expect(normalizeQuery(rest, NOW_S)).toMatchObject({ metrics: undefined, splitsMetrics: true });
    expect(normalized({ split_by: ['metric'] }).measures).toEqual(['item_count', 'quantity', 'amount']);
    expect(normalized({ split_by: [] })).toMatchObject({
      splitsMetrics: false,
      measures: ['item_count', 'amount'],
    });
    expect(normalized({ split_by: [], measures: ['quantity'] }).measures).toEqual(['quantity']);
  });

  it('groups by the bucket first, and by each name once', () => {
    expect(resultGroupBy(normalized())).toEqual(['bucket']);
    expect(resultGroupBy(normalized({ group_by: ['model', 'bucket', 'region', 'model'] }))).toEqual([
      'bucket',
      'model',
      'region',
    ]);
  });

  it('bounds groups by the limit where there are dimensions, and rows where there are none', () => {
    expect(normalized({ limit: 3 })).toMatchObject({ groupsMax: undefined, rowsMax: 3 });
    expect(normalized({ limit: 3, group_by: ['bucket'] })).toMatchObject({
      groupsMax: undefined,
      rowsMax: 3,
    });
    expect(normalized({ limit: 3, group_by: ['model'] })).toMatchObject({ groupsMax: 3, rowsMax: 50_000 });
    expect(normalized({ group_by: ['model'] })).toMatchObject({ groupsMax: undefined, rowsMax: 50_000 });
  });

  it('turns the subject into filters', () => {
    expect(normalized({ subject_type: 'user', subject_id: 'u1' }).filters).toEqual([
      ['subject_type', { in: ['user'] }],
      ['subject_id', { in: ['u1'] }],
    ]);
  });

  it.each([
    ['an hour', HOUR_S, undefined, '1m'],
    ['more than an hour', HOUR_S + 1, undefined, '15m'],
    ['just below a day', DAY_S - 1, 'auto', '15m'],
    ['a day', DAY_S, 'auto', '1h'],
    ['ten days', 10 * DAY_S, 'auto', '1h'],
    ['more than ten days', 10 * DAY_S + 1, 'auto', '2h'],
    ['21 days', 21 * DAY_S, 'auto', '2h'],
    ['more than 21 days', 21 * DAY_S + 1, 'auto', '4h'],
    ['two years, raised', 730 * DAY_S, 'auto', '12h'],
    ['an explicit size', DAY_S, '2h', '2h'],
    ['an explicit size too small', 2 * DAY_S, '1m', '5m'],
    ['totals', DAY_S, 'none', 'none'],
    ['months', 90 * DAY_S, '1mo', '1mo'],
    ['a range too long for weeks, raised', 54 * 365 * DAY_S, '1d', '1mo'],
  ])('cuts %s', (_, lengthS, bucketSize, text) => {
    const { buckets } = normalized({
      time_range: { from: NOW_S - lengthS, to: NOW_S },
      ...(bucketSize === undefined ? {} : { bucket_size: bucketSize }),
    });
    expect(buckets.text).toBe(text);
  });

  it.each<[string, Partial<AnalysisQuery>]>([
    ['time_range', { time_range: { from: 1, last_seconds: 1 } }],
    ['time_range.from', { time_range: { to: 1 } }],
    ['time_range.to', { time_range: { from: 1 } }],
    ['time_range.from', { time_range: {} }],
    ['time_range.to', { time_range: { from: 5, to: 5 } }],
    ['timezone', { timezone: 'Local' }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['bucket_size', { bucket_size: '0m' }],
    ['bucket_size', { bucket_size: '1M' }],
    ['bucket_size', { bucket_size: '-1h' }],
    ['bucket_size', { bucket_size: 'hourly' }],
    ['group_by', { group_by: ['a', 'b', 'c', 'd', 'e'] }],
    ['filters.model', { filters: { model: {} } }],
    ['filters.model', { filters: { model: { in: ['a'], exists: true } } }],
    [
      'filters',
      { filters: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`d${i}`, { exists: true }])) },
    ],
  ])('names %s when it is wrong: %j', (path, overrides) => {
    const thrown = (() => {
      try {
        normalized(overrides);
      } catch (error) {
        return error;
      }
      return undefined;
    })();
    expect(thrown).toBeInstanceOf(DomainError);
    expect((thrown as DomainError).details?.[0]?.path).toBe(path);
  });
});
