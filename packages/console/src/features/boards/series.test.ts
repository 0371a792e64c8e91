import type { AnalysisResult, AnalysisRow, Measure, StreamBuckets } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advancedTo, type ChartData, chartDataOf, withBuckets } from './chart-data.js';
import { SeriesMaker, type SeriesSet } from './series.js';

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
  split_by: ['metric'],
  group_by: ['bucket'],
  rows: [...rows],
  truncated: false,
  warnings: [],
});

const seriesOf = (answer: AnalysisResult, measure: Measure) =>
  new SeriesMaker().make(chartDataOf(answer), measure);

describe('the series of a chart', () => {
  it('are zero where nothing happened, from the first bucket to the last', () => {
    const { times, series } = seriesOf(result([row({ bucket: FIRST + HOUR_S })]), 'amount');
    expect(times).toEqual([FIRST, FIRST + HOUR_S, FIRST + 2 * HOUR_S]);
    expect(series).toMatchObject([{ label: 'tokens', unit: 'USD', total: '0.1' }]);
    expect([...(series[0]?.values ?? [])]).toEqual([0, 0.1, 0]);
    expect(series[0]?.exact).toEqual([undefined, '0.1', undefined]);
  });

  it('end with what has happened: the future is no zero', () => {
    const { times } = new SeriesMaker().make(
      chartDataOf(result([row({})], 24)),
      'amount',
      FIRST + HOUR_S + 1,
    );
    expect(times).toEqual([FIRST, FIRST + HOUR_S]);
  });

  it('say which of their ends are cut by the range', () => {
    const set = seriesOf(result([row({})]), 'amount');
    expect(set).toMatchObject({ isFirstPartial: true, isLastPartial: false });
    const whole = { ...result([row({})]), from: FIRST, to: FIRST + HOUR_S + 60 };
    expect(seriesOf(whole, 'amount')).toMatchObject({ isFirstPartial: false, isLastPartial: true });
  });

  it('add exactly, and never over currencies or metrics that are to be seen', () => {
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

  it('put the sum of all others last, however great it is', () => {
    const other = row({ group: { model: null }, other: true, amount: '100' });
    const none = row({ group: { model: null }, other: false, amount: '1' });
    const { series } = seriesOf(result([other, none, row({ group: { model: 'a' }, amount: '2' })]), 'amount');
    expect(series.map(({ label, isOther }) => [label, isOther])).toEqual([
      ['a', false],
      ['(none)', false],
      ['All others', true],
    ]);
  });

  const amounts = (...texts: string[]) =>
    texts.map((amount, index) => row({ group: { model: `m${index}` }, amount }));
  const namesOf = ({ series }: SeriesSet) => series.map(({ label, total }) => [label, total]);

  it('sum as others what would show as zero next to the largest', () => {
    const set = seriesOf(result(amounts('12.5', '0.009', '0.01', '0', '0.0001')), 'amount');
    expect(namesOf(set)).toEqual([
      ['m0', '12.5'],
      ['m2', '0.01'],
      ['All others', '0.0091'],
    ]);
    const [, , others] = set.series;
    expect(others?.parts.map(({ group }) => group)).toEqual([
      { model: 'm1' },
      { model: 'm3' },
      { model: 'm4' },
    ]);
    expect(others?.exact[0]).toBe('0.0091');
  });

  it('sum them with all others past the limit, within their metric', () => {
    const other = row({ group: { model: null }, other: true, amount: '3' });
    const set = seriesOf(result([...amounts('5', '0.001'), other]), 'amount');
    expect(namesOf(set)).toEqual([
      ['m0', '5'],
      ['All others', '3.001'],
    ]);
    expect(set.series[1]?.parts).toContainEqual({ metric: 'tokens', group: undefined });
    const calls = row({ metric: 'calls', group: { model: 'x' }, amount: '0.002' });
    expect(namesOf(seriesOf(result([...amounts('5', '0.001'), other, calls]), 'amount'))).toContainEqual([
      'calls · x',
      '0.002',
    ]);
  });

  it('sum metrics without groups as others, too, and their amounts alone', () => {
    const metrics = [
      row({ metric: 'a', amount: '1' }),
      row({ metric: 'b', amount: '0.0001' }),
      row({ metric: 'c', amount: '0.00000001' }),
    ];
    const set = seriesOf(result(metrics), 'amount');
    expect(namesOf(set)).toEqual([
      ['a', '1'],
      ['All others', '0.00010001'],
    ]);
    expect(set.series[1]?.metric).toBeNull();
    expect(seriesOf(result(metrics), 'quantity').series).toHaveLength(3);
  });

  it('keep what is small where all is, and what is alone in being small', () => {
    expect(namesOf(seriesOf(result(amounts('0.004', '0.003')), 'amount'))).toHaveLength(2);
    expect(namesOf(seriesOf(result(amounts('400', '0.003')), 'amount'))).toHaveLength(2);
  });

  it('have the days of the local calendar, at the end of summer time too', () => {
    const midnight = Date.parse('2026-10-25T00:00+02:00') / 1_000;
    const days = { bucket_size: '1d', timezone: 'Europe/Berlin', from: midnight, to: midnight + 49 * HOUR_S };
    const { times } = seriesOf({ ...result([row({ bucket: midnight })]), ...days }, 'amount');
    expect(times).toEqual([midnight, midnight + 25 * HOUR_S]);
  });
});

describe('changes of a chart', () => {
  const a = row({ group: { model: 'a' }, amount: '0.1' });
  const b = row({ group: { model: 'b' }, amount: '0.2' });
  const changes = (
    rows: AnalysisRow[],
    buckets: number[],
    fields: Partial<StreamBuckets> = {},
  ): StreamBuckets => ({
    ...{ query: 0, bucket_size: '1h', from: FROM, to: FIRST + 3 * HOUR_S, buckets, rows },
    ...fields,
  });
  const followed = (data: ChartData, event: StreamBuckets) => {
    const next = withBuckets(data, event);
    if (next === undefined) throw new Error('it is to be asked anew');
    return next;
  };

  it('takes the place of its buckets, and equals a fresh query', () => {
    const maker = new SeriesMaker();
    const before = chartDataOf(
      result([a, b, row({ bucket: FIRST + HOUR_S, group: { model: 'b' }, amount: '1' })]),
    );
    maker.make(before, 'amount');
    const fresh = [{ ...a, amount: '5' }];
    const after = maker.make(followed(before, changes(fresh, [FIRST])), 'amount');
    expect(after.series.map(({ label, total, exact }) => [label, total, exact[0]])).toEqual([
      ['b', '1', undefined],
      ['a', '5', '5'],
    ]);
    const rest = row({ bucket: FIRST + HOUR_S, group: { model: 'b' }, amount: '1' });
    const anew = new SeriesMaker().make(chartDataOf(result([...fresh, rest])), 'amount');
    expect([...after.series].sort((x, y) => (x.key < y.key ? -1 : 1))).toEqual(
      [...anew.series].sort((x, y) => (x.key < y.key ? -1 : 1)),
    );
  });

  it('brings new lines after those that are drawn, and leaves these in their places', () => {
    const maker = new SeriesMaker();
    const before = chartDataOf(result([b]));
    maker.make(before, 'amount');
    const { series } = maker.make(followed(before, changes([{ ...a, amount: '9' }, b], [FIRST])), 'amount');
    expect(series.map(({ label }) => label)).toEqual(['b', 'a']);
  });

  it('changes nothing of what it does not name', () => {
    const maker = new SeriesMaker();
    const before = chartDataOf(result([a]));
    const set = maker.make(before, 'amount');
    expect(maker.make(followed(before, changes([], [])), 'amount')).toBe(set);
  });

  it('is queried again in buckets of another size', () => {
    expect(withBuckets(chartDataOf(result([a])), changes([], [], { bucket_size: '2h' }))).toBeUndefined();
  });

  it('moves on with time though no change is sent', () => {
    const maker = new SeriesMaker();
    const data = chartDataOf(result([a]));
    const { times } = maker.make(advancedTo(data, data.receivedAtS + HOUR_S), 'amount');
    expect(times).toEqual([1, 2, 3].map((hours) => FIRST + hours * HOUR_S));
  });

  it('takes back the warning of a name that usage has now', () => {
    const warnings = ['tokens', 'calls'].map((name) => ({
      code: 'unknown_metric' as const,
      name,
      message: '',
    }));
    const dimension = { code: 'unknown_dimension' as const, name: 'model', message: '' };
    const data = chartDataOf({ ...result([]), warnings: [...warnings, dimension] });
    expect(followed(data, changes([], [FIRST])).warnings).toHaveLength(3);
    expect(followed(data, changes([a], [FIRST])).warnings.map(({ name }) => name)).toEqual(['calls']);
  });

  it('forgets what the range has left behind', () => {
    const data = chartDataOf(result([a, row({ bucket: FIRST + HOUR_S })]));
    const later = { from: FROM + HOUR_S, to: FIRST + 4 * HOUR_S };
    expect([...followed(data, changes([], [], later)).rows.keys()]).toEqual([FIRST + HOUR_S]);
  });

  it('equals a new read, whatever changes are sent and however far time moves on', () => {
    const group = fc.record({
      metric: fc.constantFrom('tokens', 'calls'),
      group: fc.record({ model: fc.constantFrom('a', 'b', null) }),
      amount: fc.constantFrom('0.1', '-0.2', '1000000000000000000.000000000000000003', '0', '0.0004', '7'),
      currency: fc.constantFrom('USD', null),
      other: fc.boolean(),
    });
    const happening = fc.record({
      passedS: fc.constantFrom(0, 60, HOUR_S, 2 * HOUR_S, 9 * HOUR_S),
      bucket: fc.nat(6),
      rows: fc.array(group, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 8 }), (happenings) => {
        const maker = new SeriesMaker();
        let data = chartDataOf(result([a, b], 6));
        let before = maker.make(data, 'amount');
        for (const { passedS, bucket, rows } of happenings) {
          data = advancedTo(data, data.receivedAtS + passedS);
          const { from, to } = data;
          const at = from - (from % HOUR_S) + bucket * HOUR_S;
          const fresh = rows.map((fields) => row({ bucket: at, ...fields }));
          const slid = maker.make(data, 'amount');
          expect(inOrderOfKeys(slid)).toEqual(inOrderOfKeys(new SeriesMaker().make(data, 'amount')));
          expectPlacesKept(before, slid);
          data = followed(data, changes(fresh, [at], { from, to }));
          const next = maker.make(data, 'amount');
          expect(inOrderOfKeys(next)).toEqual(inOrderOfKeys(new SeriesMaker().make(data, 'amount')));
          expectPlacesKept(slid, next);
          before = next;
        }
      }),
    );
  });
});

/** A set that is computed from scratch may have its new lines in other positions. */
function inOrderOfKeys({ series, ...frame }: SeriesSet) {
  return { ...frame, series: [...series].sort((x, y) => (x.key < y.key ? -1 : 1)) };
}

/** The lines of both sets are in the same order, and the sums of all others come last. */
function expectPlacesKept(before: SeriesSet, after: SeriesSet): void {
  const keysIn = (set: SeriesSet, other: SeriesSet) =>
    set.series.map(({ key }) => key).filter((key) => other.series.some((each) => each.key === key));
  expect(keysIn(after, before)).toEqual(keysIn(before, after));
  const isOther = after.series.map((each) => each.isOther);
  expect(isOther).toEqual(isOther.toSorted((x, y) => Number(x) - Number(y)));
}
