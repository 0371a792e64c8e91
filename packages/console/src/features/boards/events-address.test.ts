import type { AnalysisRow, ChartQuery, Measure } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { chartDataOf } from './chart-data.js';
import { between, bucketBounds, selectionOf, selectionOfAll } from './events-address.js';
import { SeriesMaker } from './series.js';

const FROM = 1_790_000_100;
const HOUR_S = 3_600;
const FIRST = FROM - (FROM % HOUR_S);

const row = (fields: Partial<AnalysisRow>): AnalysisRow => ({
  bucket: FIRST,
  metric: null,
  unit: null,
  currency: 'USD',
  group: {},
  amount: '1',
  quantity: '1',
  item_count: 1,
  ...fields,
});
const model = (value: string | null, fields: Partial<AnalysisRow> = {}) =>
  row({ group: { model: value }, other: false, ...fields });
const others = (fields: Partial<AnalysisRow> = {}) => model(null, { other: true, ...fields });
const BY_MODEL: ChartQuery = { split_by: [], group_by: ['bucket', 'model'], measures: ['amount'] };

const dataOf = (rows: readonly AnalysisRow[]) =>
  chartDataOf({
    ...{ bucket_size: '1h', timezone: 'UTC', from: FROM, to: FIRST + 2 * HOUR_S + 60 },
    ...{ measures: ['amount'], split_by: [], group_by: [], rows: [...rows], truncated: false, warnings: [] },
  });

/** Returns the filters that select the events of the series with a label. */
function selected(
  query: ChartQuery,
  rows: readonly AnalysisRow[],
  label: string,
  measure: Measure = 'amount',
) {
  const data = dataOf(rows);
  const { series } = new SeriesMaker().make(data, measure);
  const one = series.find((each) => each.label === label);
  if (one === undefined) throw new Error(`no ${label} among ${series.map((each) => each.label)}`);
  const selection = selectionOf({ query, data, measure, series }, one);
  return selection && Object.fromEntries(selection);
}

describe('the events that a series sums', () => {
  it('have its metric, or those of the chart, and its currency', () => {
    const split = { metrics: ['in', 'out', 'no metric'], measures: ['amount' as const] };
    const rows = [row({ metric: 'in' }), row({ metric: 'out' })];
    expect(selected(split, rows, 'in')).toEqual({ status: 'processed', metric: 'in', currency: 'USD' });
    const added = { ...split, split_by: [] };
    expect(selected(added, [row({})], 'Total')).toEqual({
      ...{ status: 'processed', currency: 'USD' },
      metric: 'in, out',
    });
    expect(selected({ split_by: [] }, [row({})], 'Total', 'item_count')).toEqual({ status: 'processed' });
  });

  it('have the values of its group in addition to the conditions of the chart', () => {
    const query: ChartQuery = {
      ...BY_MODEL,
      ...{ group_by: ['bucket', 'model', 'team'], subject_type: 'customer' },
      filters: { region: { in: ['eu'] }, model: { not_in: ['c'] } },
    };
    const rows = [row({ group: { model: 'a, b', team: null }, other: false })];
    const { filters, ...rest } = selected(query, rows, 'a, b · (none)') ?? {};
    expect(rest).toEqual({ status: 'processed', currency: 'USD', subject_type: 'customer' });
    expect(JSON.parse(filters ?? '')).toEqual({
      ...{ region: { in: ['eu'] }, model: { in: ['a, b'] } },
      team: { exists: false },
    });
  });

  it('are those of a subject, in its own fields where these hold it', () => {
    const query = { ...BY_MODEL, group_by: ['bucket', 'subject_type', 'subject_id'] };
    const subject = (id: string) => row({ group: { subject_type: 'customer', subject_id: id } });
    expect(selected(query, [subject('c 1')], 'customer · c 1')).toMatchObject({
      ...{ subject_type: 'customer', subject_id: 'c 1' },
    });
    expect(selected(query, [subject(' c')], 'customer ·  c')).toMatchObject({
      ...{ subject_type: 'customer', filters: '{"subject_id":{"in":[" c"]}}' },
    });
    const reserved = { ...BY_MODEL, group_by: ['bucket', '@subject_id'] };
    expect(selected(reserved, [row({ group: { '@subject_id': 'c 1' } })], 'c 1')).toMatchObject({
      subject_id: 'c 1',
    });
  });
});

describe('the events of all others', () => {
  const filtersOf = (
    rows: AnalysisRow[],
    filters: ChartQuery['filters'] = {},
    measure: Measure = 'amount',
  ) => {
    const found = selected({ ...BY_MODEL, filters }, rows, 'All others', measure);
    return found && JSON.parse(found.filters ?? '{}');
  };

  it.each([
    ['leave out those that are drawn', [model('a'), others()], {}, { model: { not_in: ['a'] } }],
    [
      'and those that the chart leaves out',
      [model('a'), others()],
      { model: { not_in: ['x'] } },
      { model: { not_in: ['x', 'a'] } },
    ],
    [
      'are the rest of a choice',
      [model('a'), others()],
      { model: { in: ['a', 'b', 'c'] } },
      { model: { in: ['b', 'c'] } },
    ],
    [
      'are the values that are too small to be drawn',
      [model('a', { amount: '9' }), model('b', { amount: '0.001' }), model('c', { amount: '0' })],
      {},
      { model: { in: ['b', 'c'] } },
    ],
    [
      'or those and no value',
      [model('a', { amount: '9' }), model('b', { amount: '0.001' }), model(null, { amount: '0' })],
      {},
      { model: { not_in: ['a'] } },
    ],
    [
      'or those and what is past the limit',
      [model('a', { amount: '9' }), model('b', { amount: '0.001' }), others()],
      {},
      { model: { not_in: ['a'] } },
    ],
  ])('%s', (_how, rows, filters, expected) => expect(filtersOf(rows, filters)).toEqual(expected));

  it.each([
    ['next to events without a value', [model('a'), model(null), others()], {}],
    ['that must have a value', [model('a'), others()], { model: { exists: true } }],
    ['of more than an address holds', [model('x'.repeat(4_000)), model('y'.repeat(100)), others()], {}],
  ])('cannot be selected %s', (_why, rows, filters) => expect(filtersOf(rows, filters)).toBeUndefined());

  it('cannot be selected by several dimensions, or where currencies rank groups apart', () => {
    const two = { ...BY_MODEL, group_by: ['bucket', 'model', 'team'] };
    expect(
      selected(two, [row({ group: { model: 'a', team: 'b' } }), others()], 'All others'),
    ).toBeUndefined();
    const rows = [model('a'), others(), others({ currency: 'EUR' }), model('b', { currency: 'EUR' })];
    expect(filtersOf(rows, {}, 'item_count')).toBeUndefined();
  });

  it('are of all metrics that are too small to be drawn', () => {
    const rows = ['a', 'b', 'c'].map((metric, index) => row({ metric, amount: index === 0 ? '5' : '0.001' }));
    expect(selected({ measures: ['amount'] }, rows, 'All others')).toMatchObject({ metric: 'b, c' });
  });
});

it('a quantity of one of several units of a metric cannot be selected', () => {
  const rows = [row({ metric: 'm', unit: 's' }), row({ metric: 'm', unit: 'ms' })];
  expect(selected({}, rows.slice(0, 1), 'm', 'quantity')).toMatchObject({ metric: 'm' });
  expect(selected({}, rows, 'm', 'quantity')).toBeUndefined();
});

it('the events of a bucket lie within the range, too', () => {
  const data = dataOf([]);
  expect(bucketBounds(data, FIRST)).toEqual({ from: FROM, to: FIRST + HOUR_S });
  expect(bucketBounds(data, FIRST + 2 * HOUR_S)).toEqual({ from: FIRST + 2 * HOUR_S, to: data.to });
  const bounds = between(new URLSearchParams({ currency: 'USD' }), { from: 1, to: 2 });
  expect(Object.fromEntries(bounds)).toEqual({ currency: 'USD', from: '1', to: '2' });
});

it('the events of all series of a unit have none of those of another', () => {
  const data = dataOf([
    row({ metric: 'in', unit: 'token' }),
    row({ metric: 'out', unit: 'token' }),
    row({ metric: 'time', unit: 's' }),
  ]);
  const { series } = new SeriesMaker().make(data, 'quantity');
  const [first] = series;
  if (first === undefined) throw new Error('nothing is drawn');
  const all = selectionOfAll({ query: {}, data, measure: 'quantity', series }, first);
  expect(all?.get('metric')).toBe('in, out');
});
