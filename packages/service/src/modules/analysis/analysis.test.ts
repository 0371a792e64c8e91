import type { AnalysisQuery, AnalysisRow, DimensionFilter } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketStart } from '../../kernel/bucket.js';
import { ManualClock } from '../../kernel/clock.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import {
  createTestClickHouse,
  failedRow,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { normalizeQuery } from './normalize.js';
import { analyze, planQuery } from './service.js';
import type { SourcePart } from './source.js';
import { analysisRows } from './store.js';

const SCOPE = { tenantId: 'ten_1', projectId: 'prj_1', projectNo: 1, storage: 'shared' } as const;
const CLOCK = new ManualClock(1_760_000_000_000);
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** Two days around the moment at which the zone's clock changes; Kathmandu's never does. */
const ZONES = [
  { timezone: 'UTC', around: 1_741_503_600 },
  { timezone: 'America/New_York', around: 1_741_503_600 }, // 2025-03-09 07:00 UTC, forward
  { timezone: 'America/New_York', around: 1_762_063_200 }, // 2025-11-02 06:00 UTC, back
  { timezone: 'Australia/Lord_Howe', around: 1_759_591_800 }, // 2025-10-04 15:30 UTC, by half an hour
  { timezone: 'Asia/Kathmandu', around: 1_741_503_600 },
] as const;

const HOSTILE_TEXTS = [
  "it's",
  'a`b"c',
  '\\',
  '\t\n\r\b\f',
  '{tenant:String}',
  '%27',
  "'); DROP TABLE usage_events; --",
];
const MODELS = ['small', 'large', '', ...HOSTILE_TEXTS];
const DIMENSIONS = ['model', '__proto__', 'constructor', "it's", 'bucket'];

let store: TestClickHouse;
let rows: UsageEventRow[];

beforeAll(async () => {
  store = await createTestClickHouse();
  rows = fc.sample(eventArbitrary, { numRuns: 600, seed: 7 });
  const failed = rows
    .slice(0, 20)
    .map((row) => failedRow({ id: Buffer.from(row.rawEventId).toString('hex'), occurredAt: row.occurredAt }));
  const others = [usageRow({ tenantId: 'ten_2' }), usageRow({ projectId: 'prj_2' })];
  await insertUsageRows(store.clickhouse, [...failed, ...others]);
  // Reprocessed events come again, with a greater attempt; batches are of any order.
  const attempts = rows.map((row, i) => ({ ...row, attempt: i < failed.length ? 1 : 0 }));
  await insertUsageRows(store.clickhouse, attempts.slice(0, 200));
  await insertUsageRows(store.clickhouse, attempts.slice(200));
});

afterAll(() => store.drop());

describe('an analysis query', () => {
  it('answers the same numbers from every source, for every bucket size, group and filter, in every timezone', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(queryArbitrary, async (query) => {
        const expected = expectedRows(query);
        const answer = await analyze(store.clickhouse, CLOCK, SCOPE, query);
        expect(sorted(answer.rows)).toEqual(expected);
        answered += Math.sign(expected.length);
        const planned = planQuery(normalizeQuery(query, 0));
        for (const sources of otherSources(query)) {
          const same = await analysisRows(store.clickhouse, SCOPE, { ...planned, sources });
          expect(same).toEqual(answer.rows);
        }
      }),
      { numRuns: 60, seed: 11 },
    );
    expect(answered).toBeGreaterThan(30);
  });

  it('says when there are more rows than the limit', async () => {
    const query = { ...everything(), group_by: ['model'] };
    const whole = await analyze(store.clickhouse, CLOCK, SCOPE, query);
    expect(whole.truncated).toBe(false);
    const cut = await analyze(store.clickhouse, CLOCK, SCOPE, { ...query, limit: 3 });
    expect(cut).toMatchObject({ truncated: true, rows: whole.rows.slice(0, 3) });
    const exact = await analyze(store.clickhouse, CLOCK, SCOPE, { ...query, limit: whole.rows.length });
    expect(exact.truncated).toBe(false);
  });

  it('finds nothing for unknown metrics, values and projects', async () => {
    for (const query of [
      { ...everything(), metrics: ['unknown'] },
      { ...everything(), metrics: HOSTILE_TEXTS },
      { ...everything(), filters: { unknown: { exists: true } } },
      {
        ...everything(),
        filters: Object.fromEntries(HOSTILE_TEXTS.map((name) => [name, { in: HOSTILE_TEXTS }])),
      },
    ]) {
      expect((await analyze(store.clickhouse, CLOCK, SCOPE, query)).rows).toEqual([]);
    }
    const foreign = { ...SCOPE, projectId: "prj_1' OR '1'='1" };
    expect((await analyze(store.clickhouse, CLOCK, foreign, everything())).rows).toEqual([]);
  });

  it('groups by an unknown dimension as by one that every event lacks', async () => {
    const { rows: groups } = await analyze(store.clickhouse, CLOCK, SCOPE, {
      ...everything(),
      bucket_size: 'none',
      group_by: ["'); DROP TABLE usage_events; --"],
    });
    expect(new Set(groups.flatMap(({ group }) => Object.values(group)))).toEqual(new Set([null]));
  });

  it('keeps every digit of sums beyond any double', async () => {
    const most = `${'9'.repeat(20)}.${'9'.repeat(18)}`;
    const scope = { ...SCOPE, projectId: 'prj_large' };
    const items = [1, 2, 3].map(() => usageItem({ quantity: stored(most), amount: stored(`-${most}`) }));
    await insertUsageRows(store.clickhouse, [usageRow({ projectId: 'prj_large', items })]);
    const { rows: sums } = await analyze(store.clickhouse, CLOCK, scope, everything());
    expect(sums).toMatchObject([
      {
        item_count: 3,
        quantity: '299999999999999999999.999999999999999997',
        amount: '-299999999999999999999.999999999999999997',
      },
    ]);
  });

  it('raises a bucket that would give too many points, and answers them', async () => {
    const answer = await analyze(store.clickhouse, CLOCK, SCOPE, {
      ...everything(),
      time_range: { from: 1_740_000_000, to: 1_740_000_000 + 1_500 * HOUR_S },
      bucket_size: '1m',
    });
    expect(answer.bucket_size).toBe('2h');
    expect(answer.rows.length).toBeGreaterThan(0);
  });
});

function everything(): AnalysisQuery {
  return { metrics: ['llm.tokens', 'llm.calls'], time_range: { from: 0, to: 1_800_000_000 } };
}

const itemArbitrary = fc
  .record({
    metric: fc.constantFrom('llm.tokens', 'llm.calls'),
    unit: fc.constantFrom('token', ''),
    currency: fc.constantFrom('USD', 'EUR', ''),
    quantity: fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
    amount: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
  })
  .map((fields) => usageItem(fields));

const eventArbitrary = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    offsetS: fc.integer({ min: -DAY_S, max: DAY_S }),
    subjectType: fc.constantFrom('user', 'team', ''),
    dimensions: fc.dictionary(fc.constantFrom(...DIMENSIONS), fc.constantFrom(...MODELS), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
    items: fc.array(itemArbitrary, { maxLength: 3 }),
  })
  .map(({ zone, offsetS, subjectType, dimensions, items }) =>
    usageRow({
      occurredAt: zone.around + offsetS,
      subjectType,
      subjectId: subjectType === '' ? '' : `${subjectType}-${offsetS % 3}`,
      dimensions: new Map(Object.entries(dimensions)),
      items,
    }),
  );

const filterArbitrary: fc.Arbitrary<DimensionFilter> = fc.oneof(
  fc.record({ in: fc.uniqueArray(fc.constantFrom(...MODELS), { minLength: 1 }) }),
  fc.record({ not_in: fc.uniqueArray(fc.constantFrom(...MODELS), { minLength: 1 }) }),
  fc.record({ exists: fc.boolean() }),
);

const queryArbitrary: fc.Arbitrary<AnalysisQuery> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    fromS: fc.integer({ min: -DAY_S, max: DAY_S }),
    lengthS: fc.integer({ min: 1, max: 2 * DAY_S }),
    bucketSize: fc.constantFrom('auto', 'none', '1m', '5m', '7m', '15m', '1h', '4h', '5h', '1d', '2d', '7d'),
    groupBy: fc.uniqueArray(fc.constantFrom('model', '__proto__', "it's", 'subject_type', 'subject_id'), {
      maxLength: 3,
    }),
    filters: fc.dictionary(fc.constantFrom(...DIMENSIONS, 'subject_type'), filterArbitrary, {
      maxKeys: 2,
      noNullPrototype: false,
    }),
    subject: fc.constantFrom<Pick<AnalysisQuery, 'subject_type' | 'subject_id'>[]>(
      {},
      {},
      { subject_type: 'user' },
      { subject_id: 'team-1' },
    ),
    metrics: fc.constantFrom<string[][]>(['llm.tokens'], ['llm.tokens', 'llm.calls']),
  })
  .map(({ zone, fromS, lengthS, bucketSize, groupBy, filters, subject, metrics }) => ({
    metrics,
    time_range: { from: zone.around + fromS, to: zone.around + fromS + lengthS },
    timezone: zone.timezone,
    bucket_size: bucketSize,
    group_by: groupBy,
    filters,
    ...subject,
  }));

/** The rollups by themselves, where they can answer; and the events, which always can. */
function otherSources(query: AnalysisQuery): SourcePart[][] {
  const { from, to, buckets, dimensions, filters } = normalizeQuery(query, 0);
  const raw: SourcePart[] = [{ source: 'usage_events', spans: [{ from, to }] }];
  const bySubject = dimensions.includes('subject_id') || filters.some(([name]) => name === 'subject_id');
  const isWhole = from % 60 === 0 && to % 60 === 0 && buckets.starts.every((start) => start % 60 === 0);
  if (bySubject || !isWhole) return [raw];
  return [raw, [{ source: 'usage_rollup_1m', spans: [{ from, to }] }]];
}

/** The same query, answered by going through all events one by one. */
function expectedRows(query: AnalysisQuery): AnalysisRow[] {
  const { from, to, timezone, buckets, dimensions, filters, metrics } = normalizeQuery(query, 0);
  const sums = new Map<string, { count: number; quantity: bigint; amount: bigint }>();
  const sizeS = sizeOf(buckets.text);
  for (const row of rows) {
    if (row.occurredAt < from || row.occurredAt >= to) continue;
    if (!filters.every(([name, filter]) => passes(dimensionValue(row, name), filter))) continue;
    for (const item of row.items) {
      if (!metrics.includes(item.metric)) continue;
      const bucket = sizeS === undefined ? null : bucketStart(row.occurredAt, sizeS, timezone);
      const group = dimensions.map((name) => [name, dimensionValue(row, name) ?? null]);
      const key = JSON.stringify([bucket, item.metric, item.unit || null, item.currency || null, group]);
      const sum = sums.get(key) ?? { count: 0, quantity: 0n, amount: 0n };
      sum.count++;
      sum.quantity += item.quantity;
      sum.amount += item.amount;
      sums.set(key, sum);
    }
  }
  const expected = [...sums].map(([key, { count, quantity, amount }]) => {
    const [bucket, metric, unit, currency, group] = JSON.parse(key);
    return {
      bucket,
      metric,
      unit,
      currency,
      group: Object.fromEntries(group),
      item_count: count,
      quantity: toText(fromStored(quantity)),
      amount: toText(fromStored(amount)),
    };
  });
  return sorted(expected);
}

function passes(value: string | undefined, filter: DimensionFilter): boolean {
  if (filter.exists !== undefined) return (value !== undefined) === filter.exists;
  if (filter.in !== undefined) return value !== undefined && filter.in.includes(value);
  return value === undefined || !(filter.not_in ?? []).includes(value);
}

function dimensionValue(row: UsageEventRow, name: string): string | undefined {
  if (name === 'subject_type') return row.subjectType || undefined;
  if (name === 'subject_id') return row.subjectId || undefined;
  return row.dimensions.get(name);
}

function sizeOf(text: string): number | undefined {
  const units: Record<string, number> = { m: 60, h: HOUR_S, d: DAY_S };
  return text === 'none' ? undefined : Number.parseInt(text, 10) * (units[text.at(-1) ?? ''] ?? 1);
}

function sorted(answer: readonly AnalysisRow[]): AnalysisRow[] {
  return [...answer].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
