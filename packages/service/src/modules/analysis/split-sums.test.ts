import type { AnalysisQuery, AnalysisRow } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  createTestClickHouse,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { analyze } from './service.js';

const SCOPE = { ...TEST_SCOPE, excludedDimensions: [] };
const CLOCK = new ManualClock(1_800_000_000_000);
/** Many queries, on machines that may be busy. */
const TIMEOUT_MS = 180_000;
const DAY_S = 86_400;
/** Nine months with both changes of the clocks in each of the zones: 1 August 2025 to 1 May 2026, UTC. */
const FROM_S = 1_754_006_400;
const TO_S = 1_777_593_600;
const ZONES = ['UTC', 'America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
/** Starts of a month in one of the zones, and the end of a clock's hour that comes twice. */
const TURNS_S = [
  1_756_699_200, // 1 September, 00:00 in New York
  1_761_955_200, // 1 November, 00:00 UTC
  1_762_056_000, // 2 November, 00:00 in New York, whose clock goes back that night
  1_764_565_200, // 1 December, 00:00 in New York: an hour later than before
  1_759_239_000, // 1 October, 00:00 in Lord Howe (10:30 ahead)
  1_761_915_600, // 1 November, 00:00 in Lord Howe (11 ahead)
  1_759_256_100, // 1 October, 00:00 in Kathmandu
];

const eventArbitrary = fc
  .record({
    occurredAt: fc.oneof(
      fc.integer({ min: FROM_S, max: TO_S - 1 }),
      fc.tuple(fc.constantFrom(...TURNS_S), fc.integer({ min: -2, max: 2 })).map(([turn, off]) => turn + off),
    ),
    model: fc.constantFrom('small', 'large', ''),
    items: fc.array(
      fc.record({
        metric: fc.constantFrom('llm.in', 'llm.out', 'storage.bytes'),
        unit: fc.constantFrom('token', 'byte', ''),
        currency: fc.constantFrom('USD', 'EUR', 'JPY', ''),
        quantity: fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
        amount: fc.bigInt({ min: -(10n ** 36n), max: 10n ** 36n }),
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ occurredAt, model, items }) =>
    usageRow({
      occurredAt,
      dimensions: new Map(model === '' ? [] : [['model', model]]),
      items: items.map((item) => usageItem(item)),
    }),
  );

const queryArbitrary: fc.Arbitrary<AnalysisQuery> = fc.record({
  time_range: fc
    .tuple(fc.integer({ min: FROM_S, max: TO_S - DAY_S }), fc.integer({ min: DAY_S, max: TO_S - FROM_S }))
    .map(([from, length]) => ({ from, to: Math.min(from + length, TO_S) })),
  timezone: fc.constantFrom(...ZONES),
  bucket_size: fc.constantFrom('1mo', '1mo', '3mo', '7d', '1d', 'none'),
  group_by: fc.constantFrom<string[]>([], ['model']),
  measures: fc.constantFrom<NonNullable<AnalysisQuery['measures']>>(
    ['amount', 'item_count'],
    ['item_count', 'amount'],
  ),
});

let store: TestClickHouse;
let events: UsageEventRow[];

beforeAll(async () => {
  store = await createTestClickHouse();
  events = fc.sample(eventArbitrary, { numRuns: 700, seed: 31 });
  await insertUsageRows(store.clickhouse, events.slice(0, 250));
  await insertUsageRows(store.clickhouse, events.slice(250));
});
afterAll(() => store.drop());

type Sums = Record<string, { count: number; amount: string }>;

function sumsOf<Each>(
  each: readonly Each[],
  keyOf: (one: Each) => readonly unknown[],
  numbersOf: (one: Each) => { readonly count: number; readonly amount: bigint },
): Sums {
  const sums = new Map<string, { count: number; amount: bigint }>();
  for (const one of each) {
    const key = JSON.stringify(keyOf(one));
    const { count, amount } = numbersOf(one);
    const sum = sums.get(key) ?? { count: 0, amount: 0n };
    sums.set(key, { count: sum.count + count, amount: sum.amount + amount });
  }
  return Object.fromEntries(
    [...sums].sort().map(([key, { count, amount }]) => [key, { count, amount: toText(fromStored(amount)) }]),
  );
}

const rowValue = ({ item_count: count = 0, amount = '0' }: AnalysisRow) => ({
  count,
  amount: stored(amount),
});
const ofRows = (rows: readonly AnalysisRow[], keyOf: (row: AnalysisRow) => readonly unknown[]) =>
  sumsOf(rows, keyOf, rowValue);

/** The charge items of the events in the range, summed by a key of the event and the currency. */
function ofItems(
  { time_range: range }: AnalysisQuery,
  keyOf: (event: UsageEventRow) => readonly unknown[],
): Sums {
  const { from, to } = range as { from: number; to: number };
  const items = events
    .filter(({ occurredAt }) => occurredAt >= from && occurredAt < to)
    .flatMap((event) => event.items.map(({ currency, amount }) => ({ event, currency, amount })));
  return sumsOf(
    items,
    ({ event, currency }) => [...keyOf(event), currency || null],
    ({ amount }) => ({ count: 1, amount }),
  );
}

/** The calendar month of a moment, as the platform's own calendar has it. */
function monthOf(timeS: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: '2-digit' });
  return parts.format(timeS * 1_000);
}

it(
  'sums without metrics are those of all metrics, and of the charge items, in every bucket, zone and currency',
  async () => {
    let answered = 0;
    const currencies = new Set<string | null>();
    await fc.assert(
      fc.asyncProperty(queryArbitrary, async (query) => {
        const ask = async (split_by: 'metric'[]) =>
          (await analyze(store.clickhouse, CLOCK, SCOPE, { ...query, split_by })).rows;
        const whole = await ask([]);
        const split = await ask(['metric']);
        const place = ({ bucket, currency, group }: AnalysisRow) => [bucket, group, currency];
        expect(ofRows(whole, place)).toEqual(ofRows(split, place));
        // Nothing is added up twice: there is one row for each bucket, group and currency.
        expect(Object.keys(ofRows(whole, place))).toHaveLength(whole.length);
        for (const { metric, unit, currency } of whole) {
          expect([metric, unit]).toEqual([null, null]);
          currencies.add(currency);
        }
        expect(ofRows(whole, ({ currency }) => [currency])).toEqual(ofItems(query, () => []));
        answered += whole.length;
      }),
      { numRuns: 60, seed: 17 },
    );
    expect(answered).toBeGreaterThan(500);
    expect(currencies).toEqual(new Set(['USD', 'EUR', 'JPY', null]));
  },
  TIMEOUT_MS,
);

it.each(ZONES)(
  'months are those of the calendar in %s, to the second',
  async (timezone) => {
    const query: AnalysisQuery = {
      time_range: { from: FROM_S, to: TO_S },
      timezone,
      bucket_size: '1mo',
      split_by: [],
      measures: ['amount', 'item_count'],
    };
    const { rows } = await analyze(store.clickhouse, CLOCK, SCOPE, query);
    const byMonth = ofRows(rows, ({ bucket, currency }) => [monthOf(bucket ?? 0, timezone), currency]);
    expect(byMonth).toEqual(ofItems(query, ({ occurredAt }) => [monthOf(occurredAt, timezone)]));
    expect(new Set(rows.map(({ bucket }) => bucket)).size).toBeGreaterThanOrEqual(9);
  },
  TIMEOUT_MS,
);
