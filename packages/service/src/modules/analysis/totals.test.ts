import type { AnalysisQuery, AnalysisRow } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { fromStored, parseDecimal, toText } from '../../kernel/decimal.js';
import { TEST_SCOPE } from '../../testing/history.js';
import { createTestClickHouse, insertUsageRows, type TestClickHouse } from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { DAY_S, DIMENSIONS, eventArbitrary, ZONES } from './oracle.testing.js';
import { analyze } from './service.js';

const SCOPE = { ...TEST_SCOPE, excludedDimensions: DIMENSIONS };
const CLOCK = new ManualClock(1_760_000_000_000);
const METRICS = ['llm.tokens', 'llm.calls'];
/** Many queries, on machines that may be busy. */
const TIMEOUT_MS = 180_000;
const BUCKET_SIZES = ['none', 'auto', '1m', '7m', '15m', '45m', '1h', '5h', '12h', '1d', '3d', '7d', '1mo'];

let store: TestClickHouse;
let events: UsageEventRow[];

beforeAll(async () => {
  store = await createTestClickHouse();
  events = fc.sample(eventArbitrary, { numRuns: 800, seed: 23 });
  await insertUsageRows(store.clickhouse, events.slice(0, 300));
  await insertUsageRows(store.clickhouse, events.slice(300));
});

afterAll(() => store.drop());

it(
  'are the same for every bucket size, every group and every number of groups, across changes of clocks',
  async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(questionArbitrary, async ({ query, groupBy, limit, sizes }) => {
        const expected = totalsOfEvents(query.time_range as Range);
        for (const bucketSize of ['none', ...sizes]) {
          for (const more of [{}, { group_by: groupBy }, { group_by: groupBy, limit }]) {
            const { rows } = await analyze(store.clickhouse, CLOCK, SCOPE, {
              ...query,
              ...more,
              bucket_size: bucketSize,
            });
            expect(totalsOfRows(rows)).toEqual(expected);
          }
        }
        found += Math.sign(Object.keys(expected).length);
      }),
      { numRuns: 16, seed: 5 },
    );
    expect(found).toBeGreaterThan(12);
  },
  TIMEOUT_MS,
);

type Range = { from: number; to: number };
type Totals = Record<string, { count: number; quantity: string; amount: string }>;

const questionArbitrary = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    fromS: fc.integer({ min: -DAY_S, max: 0 }),
    lengthS: fc.integer({ min: 3_600, max: 2 * DAY_S }),
    // A limit without dimensions would bound rows.
    groupBy: fc.uniqueArray(fc.constantFrom(...DIMENSIONS, 'subject_type', 'subject_id', 'nowhere'), {
      minLength: 1,
      maxLength: 4,
    }),
    limit: fc.integer({ min: 1, max: 5 }),
    sizes: fc.uniqueArray(fc.constantFrom(...BUCKET_SIZES), { minLength: 1, maxLength: 1 }),
  })
  .map(({ zone, fromS, lengthS, groupBy, ...rest }) => {
    const from = zone.around + fromS;
    const query: AnalysisQuery = {
      metrics: METRICS,
      time_range: { from, to: from + lengthS },
      timezone: zone.timezone,
    };
    // "bucket" as a group means the time.
    return {
      query,
      groupBy: ['subject_type', ...groupBy.filter((name) => name !== 'bucket')].slice(0, 4),
      ...rest,
    };
  });

function totalsOfEvents({ from, to }: Range): Totals {
  const items = events
    .filter(({ occurredAt }) => occurredAt >= from && occurredAt < to)
    .flatMap((event) => event.items)
    .filter(({ metric }) => METRICS.includes(metric));
  return totals(
    items.map((item) => ({ ...item, unit: item.unit || null, currency: item.currency || null, count: 1 })),
  );
}

function totalsOfRows(rows: readonly AnalysisRow[]): Totals {
  return totals(
    rows.map(({ metric, unit, currency, item_count: count = 0, quantity, amount }) => ({
      metric,
      unit,
      currency,
      count,
      quantity: coefficientOf(quantity),
      amount: coefficientOf(amount),
    })),
  );
}

interface Summand {
  readonly metric: string | null;
  readonly unit: string | null;
  readonly currency: string | null;
  readonly count: number;
  readonly quantity: bigint;
  readonly amount: bigint;
}

function totals(summands: readonly Summand[]): Totals {
  const sums = new Map<string, { count: number; quantity: bigint; amount: bigint }>();
  for (const { metric, unit, currency, count, quantity, amount } of summands) {
    const key = JSON.stringify([metric, unit, currency]);
    const sum = sums.get(key) ?? { count: 0, quantity: 0n, amount: 0n };
    sums.set(key, {
      count: sum.count + count,
      quantity: sum.quantity + quantity,
      amount: sum.amount + amount,
    });
  }
  return Object.fromEntries(
    [...sums]
      .sort()
      .map(([key, { count, quantity, amount }]) => [
        key,
        { count, quantity: toText(fromStored(quantity)), amount: toText(fromStored(amount)) },
      ]),
  );
}

/** The value × 10^18 of a sum in a response, of any size. */
function coefficientOf(text = '0'): bigint {
  const decimal = parseDecimal(text);
  if (decimal === undefined) throw new Error(`${text} is not a decimal`);
  return decimal.coefficient * 10n ** BigInt(18 - decimal.scale);
}
