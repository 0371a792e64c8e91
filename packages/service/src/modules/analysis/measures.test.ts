import { type AnalysisQuery, type Measure, QUANTITY_MEASURES } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  type CorrectedRows,
  correctedRows,
  createTestClickHouse,
  insertCorrections,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
  voidedRows,
} from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { expectedRows, sorted } from './expected-rows.testing.js';
import { analyze } from './service.js';

const CLOCK = new ManualClock(1_800_000_000_000);
const SCOPE = { ...TEST_SCOPE, excludedDimensions: [] };
/** Many queries, on machines that may be busy. */
const TIMEOUT_MS = 180_000;
/** 2026-01-01 00:00 UTC. */
const FROM_S = 1_767_225_600;
const RANGE_S = 7_200;
/** Later events are not corrected, so there are rows of the rollup with and without reversal rows. */
const CORRECTED_S = 4_500;

let house: TestClickHouse;
beforeAll(async () => {
  house = await createTestClickHouse();
});
afterAll(() => house.drop());

const ask = async (query: AnalysisQuery, projectId = SCOPE.projectId) =>
  (await analyze(house.clickhouse, CLOCK, { ...SCOPE, projectId }, query)).rows;

const costOf = (currency: string, amount: string) => ({
  amount: stored(amount),
  currency,
  ruleSetId: 'prs_cost',
  ruleSetVersion: 1,
  ruleName: 'tokens',
});

/** Few values, which repeat, so that single values are taken back and others of the same size stay. */
const contentArbitrary = fc.record({
  model: fc.constantFrom('small', 'large', ''),
  // So many that of some of them nothing is left.
  user: fc.integer({ min: 1, max: 400 }),
  subjectId: fc.constantFrom('u1', 'u2', 'u3', ''),
  accountId: fc.constantFrom('acc_1', 'acc_2'),
  items: fc.array(
    fc.record({
      metric: fc.constantFrom('in', 'out'),
      quantity: fc.oneof(
        fc.constantFrom('0', '1', '2', '2.5', '1000000.000000000000000001'),
        fc.integer({ min: 0, max: 40 }).map(String),
      ),
      pricingSource: fc.constantFrom('hint', 'unpriced'),
      cost: fc.constantFrom(null, costOf('USD', '0.004'), costOf('EUR', '0.5'), costOf('EUR', '-2')),
    }),
    { maxLength: 3 },
  ),
});
type Content = typeof contentArbitrary extends fc.Arbitrary<infer Each> ? Each : never;

const historyArbitrary = fc.record({
  afterS: fc.integer({ min: 0, max: RANGE_S - 1 }),
  first: contentArbitrary,
  /** Each replaces the content, or voids the event where there is none. */
  corrections: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fc.option(contentArbitrary), { minLength: 1, maxLength: 3 }) },
  ),
});

function fieldsOf({ model, user, subjectId, accountId, items }: Content) {
  return {
    dimensions: new Map([['user', `${user}`], ...(model === '' ? [] : ([['model', model]] as const))]),
    subjectType: subjectId === '' ? '' : 'user',
    ...{ subjectId, accountId },
    ...{ status: 'processed' as const, posting: 'posted' as const },
    items: items.map(({ quantity, ...item }) => usageItem({ ...item, quantity: stored(quantity) })),
  };
}

/** The rows of random events, the corrections of each, and the revisions in force. */
function randomHistory() {
  const originals: UsageEventRow[] = [];
  const corrections: CorrectedRows[] = [];
  const present: UsageEventRow[] = [];
  for (const { afterS, first, corrections: steps } of fc.sample(historyArbitrary, {
    numRuns: 700,
    seed: 12,
  })) {
    let row = usageRow({ occurredAt: FROM_S + afterS, ...fieldsOf(first) });
    originals.push(row);
    for (const step of afterS < CORRECTED_S ? steps : []) {
      const corrected = step === null ? voidedRows(row) : correctedRows(row, fieldsOf(step));
      corrections.push(corrected);
      row = corrected.next;
    }
    present.push(row);
  }
  return { originals, corrections, present };
}

const MEASURES: readonly Measure[] = [
  ...(['item_count', 'quantity', 'amount', 'cost', 'margin', ...QUANTITY_MEASURES] as const),
  ...(['unique:user', 'unique:@subject_id', 'unique:@pricing_source', 'unique:@account_id'] as const),
];

const queryArbitrary: fc.Arbitrary<AnalysisQuery> = fc
  .record({
    from: fc.constantFrom(0, 0, 60, 7),
    measures: fc.oneof(
      fc.shuffledSubarray([...MEASURES], { minLength: 1, maxLength: 6 }),
      fc.shuffledSubarray<Measure>(['amount', 'margin', 'unique:user', 'unique:@subject_id'], {
        minLength: 1,
      }),
      fc.shuffledSubarray<Measure>(['average', 'cost', 'unique:user', 'unique:model'], { minLength: 1 }),
      fc.shuffledSubarray<Measure>(['minimum', 'maximum', 'amount', 'unique:model'], { minLength: 1 }),
    ),
    bucket_size: fc.constantFrom('none', '1h', '15m'),
    group_by: fc.subarray(['model', '@subject_id'], { maxLength: 1 }),
    split_by: fc.constantFrom<'metric'[][]>([], ['metric']),
    filters: fc.constantFrom<NonNullable<AnalysisQuery['filters']>[]>(
      {},
      { '@pricing_source': { in: ['hint'] } },
      { model: { exists: true } },
    ),
    limit: fc.constantFrom(undefined, 1),
  })
  .map(({ from, limit, ...query }) => ({
    ...query,
    time_range: { from: FROM_S + from, to: FROM_S + RANGE_S - from },
    ...(limit === undefined || query.group_by.length === 0 ? {} : { limit }),
  }));

it(
  'measures are those of the charge items in force, however events were corrected',
  async () => {
    const { originals, corrections, present } = randomHistory();
    const inForce = present.flatMap(({ items }) => items).length;
    expect(corrections.length).toBeGreaterThan(300);
    expect(inForce).toBeGreaterThan(300);
    await insertUsageRows(house.clickhouse, originals.slice(0, 200));
    await insertUsageRows(house.clickhouse, originals.slice(200));
    await insertCorrections(house.clickhouse, corrections);
    const check = (numRuns: number, seed: number) =>
      fc.assert(
        fc.asyncProperty(queryArbitrary, async (query) => {
          expect(sorted(await ask(query))).toEqual(expectedRows(present, query));
        }),
        { numRuns, seed },
      );
    await check(40, 1);
    await house.clickhouse.command('OPTIMIZE TABLE usage_events FINAL');
    await check(10, 2);
  },
  TIMEOUT_MS,
);

describe('a measure of quantities', () => {
  let projectNo = 0;
  const totals: AnalysisQuery = { time_range: { from: FROM_S, to: FROM_S + RANGE_S }, bucket_size: 'none' };
  async function projectWith(quantities: readonly string[]): Promise<string> {
    const projectId = `prj_values_${++projectNo}`;
    const rows = quantities.map((quantity) =>
      usageRow({ projectId, occurredAt: FROM_S, items: [usageItem({ quantity: stored(quantity) })] }),
    );
    await insertUsageRows(house.clickhouse, rows);
    return projectId;
  }
  const most = `${'9'.repeat(20)}.${'9'.repeat(18)}`;
  const percentiles = ['p50', 'p90', 'p95', 'p99'] as const;

  it.each<[string[], string[]]>([
    [['7'], ['7', '7', '7', '7']],
    [
      ['4', '1', '3', '2'],
      ['2.5', '3.7', '3.85', '3.97'],
    ],
    [
      ['0', '0.000000000000000001'],
      ['0.0000000000000000005', '0.0000000000000000009', '0.00000000000000000095', '0.00000000000000000099'],
    ],
    [
      [most, most, most],
      [most, most, most, most],
    ],
    [
      ['-1', '-2', '5'],
      ['-1', '3.8', '4.4', '4.88'],
    ],
  ])('has the percentiles of %j on lines between the closest ranks', async (quantities, expected) => {
    const [row] = await ask({ ...totals, measures: [...percentiles] }, await projectWith(quantities));
    expect(percentiles.map((measure) => row?.[measure])).toEqual(expected);
  });

  it('has percentiles at ranks of their own', async () => {
    const quantities = Array.from({ length: 101 }, (_, index) => String(100 - index));
    const [row] = await ask({ ...totals, measures: [...percentiles] }, await projectWith(quantities));
    expect(row).toMatchObject({ p50: '50', p90: '90', p95: '95', p99: '99' });
  });

  it.each([
    [['1', '2', '2'], '1.666666666666666667'],
    [['1', '1', '2'], '1.333333333333333333'],
    // Half of the last digit: to the even one.
    [['0', '0.000000000000000001'], '0'],
    [['0.000000000000000001', '0.000000000000000002'], '0.000000000000000002'],
    [['-0.000000000000000001', '-0.000000000000000002'], '-0.000000000000000002'],
    [['-0.000000000000000001', '0'], '0'],
    [['-1', '-1', '-2'], '-1.333333333333333333'],
    [[most, most, most], most],
  ])('has the average of %j, rounded half-even to 18 digits', async (quantities, average) => {
    const [row] = await ask({ ...totals, measures: ['average'] }, await projectWith(quantities));
    expect(row?.average).toBe(average);
  });

  it.each([...QUANTITY_MEASURES, 'quantity' as const])('%s is refused for several units', async (measure) => {
    const projectId = await projectWith(['1', '2']);
    const other = usageItem({ metric: 'time', unit: 'second' });
    await insertUsageRows(house.clickhouse, [usageRow({ projectId, occurredAt: FROM_S, items: [other] })]);
    const query: AnalysisQuery = { ...totals, split_by: [], measures: [measure, 'unique:model'] };
    await expect(ask(query, projectId)).rejects.toMatchObject({
      code: 'unlike_units',
      message: expect.stringContaining('(second, token)'),
    });
    expect(await ask({ ...query, metrics: ['time'] }, projectId)).toMatchObject([{ unit: null }]);
    expect(await ask({ ...query, split_by: ['metric'] }, projectId)).toHaveLength(2);
  });
});
