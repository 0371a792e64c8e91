import {
  type AnalysisQuery,
  type AnalysisRow,
  type DimensionFilter,
  MEASURES,
  type Measure,
  RESERVED_NAMES,
} from '@tollgate/contract';
import fc from 'fast-check';
import { type BucketSize, bucketStart } from '../../kernel/bucket.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import { usageItem, usageRow } from '../../testing/index.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';
import { type NormalizedQuery, normalizeQuery } from './normalize.js';

export const HOUR_S = 3_600;
export const DAY_S = 86_400;

/** Two days around the moment at which the zone's clock changes. */
export const ZONES = [
  { timezone: 'UTC', around: 1_741_503_600 },
  { timezone: 'America/New_York', around: 1_741_503_600 }, // 2025-03-09 07:00 UTC, forward
  { timezone: 'America/New_York', around: 1_762_063_200 }, // 2025-11-02 06:00 UTC, back
  { timezone: 'Australia/Lord_Howe', around: 1_759_591_800 }, // 2025-10-04 15:30 UTC, by half an hour
  { timezone: 'Asia/Kathmandu', around: 504_901_800 }, // 1985-12-31 18:30 UTC, by a quarter, permanently
  { timezone: 'Asia/Kathmandu', around: 1_741_503_600 }, // no change
] as const;

export const HOSTILE_TEXTS = [
  "it's",
  'a`b"c',
  '\\',
  '\t\n\r\b\f',
  '{tenant:String}',
  '%27',
  "'); DROP TABLE usage_events; --",
];
const MODELS = ['small', 'large', '', ...HOSTILE_TEXTS];
export const DIMENSIONS = ['model', '__proto__', 'constructor', "it's", 'bucket'];

const itemArbitrary = fc
  .record({
    metric: fc.constantFrom('llm.tokens', 'llm.calls'),
    unit: fc.constantFrom('token', ''),
    currency: fc.constantFrom('USD', 'EUR', ''),
    quantity: fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
    amount: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    pricingSource: fc.constantFrom('hint', 'extractor', 'pricing_rule_set', 'unpriced'),
  })
  .map((fields) => usageItem(fields));

export const eventArbitrary = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    offsetS: fc.integer({ min: -DAY_S, max: DAY_S }),
    subjectType: fc.constantFrom('user', 'team', ''),
    accountId: fc.constantFrom('acc_1', 'acc_2', ''),
    dimensions: fc.dictionary(fc.constantFrom(...DIMENSIONS), fc.constantFrom(...MODELS), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
    // The rollup lacks some of them, depending on the event.
    excludedDimensions: fc.subarray(DIMENSIONS),
    items: fc.array(itemArbitrary, { maxLength: 3 }),
  })
  .map(({ zone, offsetS, subjectType, accountId, dimensions, excludedDimensions, items }) =>
    usageRow({
      occurredAt: zone.around + offsetS,
      subjectType,
      subjectId: subjectType === '' ? '' : `${subjectType}-${offsetS % 3}`,
      accountId,
      dimensions: new Map(Object.entries(dimensions)),
      excludedDimensions: excludedDimensions.filter((name) => Object.hasOwn(dimensions, name)),
      items,
    }),
  );

const RESERVED_VALUES = ['user', 'team-1', 'acc_1', 'acc_2', 'hint', 'unpriced', 'no such value', ''];
const NAMES = ['subject_type', 'subject_id', ...RESERVED_NAMES];
const filterOf = (values: readonly string[]): fc.Arbitrary<DimensionFilter> =>
  fc.oneof(
    fc.record({ in: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }) }),
    fc.record({ not_in: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }) }),
    fc.record({ exists: fc.boolean() }),
  );
const filtersArbitrary = fc.oneof(
  fc.dictionary(fc.constantFrom(...DIMENSIONS, 'subject_type'), filterOf(MODELS), {
    maxKeys: 2,
    noNullPrototype: false,
  }),
  fc.dictionary(fc.constantFrom(...NAMES), filterOf(RESERVED_VALUES), { maxKeys: 2, noNullPrototype: false }),
);

export const queryArbitrary: fc.Arbitrary<AnalysisQuery> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    fromS: fc.integer({ min: -DAY_S, max: DAY_S }),
    lengthS: fc.integer({ min: 1, max: 2 * DAY_S }),
    bucketSize: fc.constantFrom(
      'auto',
      'none',
      '1m',
      '5m',
      '7m',
      '15m',
      '1h',
      '4h',
      '5h',
      '1d',
      '2d',
      '7d',
      '1mo',
      '3mo',
    ),
    groupBy: fc.uniqueArray(fc.constantFrom('model', '__proto__', "it's", ...NAMES), { maxLength: 3 }),
    filters: filtersArbitrary,
    subject: fc.constantFrom<Pick<AnalysisQuery, 'subject_type' | 'subject_id'>[]>(
      {},
      {},
      { subject_type: 'user' },
      { subject_id: 'team-1' },
    ),
    asked: fc.constantFrom<Pick<AnalysisQuery, 'metrics' | 'split_by'>[]>(
      { metrics: ['llm.tokens'] },
      { metrics: ['llm.tokens', 'llm.calls'], split_by: ['metric'] },
      {},
      { split_by: [] },
      { metrics: ['llm.tokens', 'llm.calls'], split_by: [] },
    ),
    measures: fc.shuffledSubarray([...MEASURES], { minLength: 1 }),
    groupsMax: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  })
  .map(({ zone, fromS, lengthS, bucketSize, groupBy, subject, groupsMax, asked, measures, ...rest }) => ({
    ...rest,
    ...asked,
    // Items have two units.
    measures: asked.split_by?.length === 0 ? summable(measures) : measures,
    time_range: { from: zone.around + fromS, to: zone.around + fromS + lengthS },
    timezone: zone.timezone,
    bucket_size: bucketSize,
    group_by: groupBy,
    ...subject,
    // Without dimensions the limit bounds rows instead.
    ...(groupsMax === undefined || groupBy.length === 0 ? {} : { limit: groupsMax }),
  }));

function summable(measures: readonly Measure[]): Measure[] {
  const rest = measures.filter((measure) => measure !== 'quantity');
  return rest.length === 0 ? ['amount'] : rest;
}

/** The rows that the query must return, computed from the events one by one. Rows are sorted by their text. */
export function expectedRows(events: readonly UsageEventRow[], query: AnalysisQuery): AnalysisRow[] {
  const normalized = normalizeQuery(query, 0);
  const { from, to, filters, metrics, dimensions } = normalized;
  const items: CountedItem[] = [];
  for (const event of events) {
    if (event.occurredAt < from || event.occurredAt >= to) continue;
    for (const item of event.items) {
      if (!(metrics?.includes(item.metric) ?? true)) continue;
      if (!filters.every(([name, filter]) => passes(valueIn(event, item, name), filter))) continue;
      const group = Object.fromEntries(dimensions.map((name) => [name, valueIn(event, item, name) ?? null]));
      items.push({ ...item, occurredAt: event.occurredAt, group });
    }
  }
  return sorted(summed(items, normalized));
}

type CountedItem = UsageItemRow & { occurredAt: number; group: Record<string, string | null> };
interface Sums {
  item_count: bigint;
  quantity: bigint;
  amount: bigint;
}

function summed(items: readonly CountedItem[], normalized: NormalizedQuery): AnalysisRow[] {
  const { buckets, timezone, measures, groupsMax } = normalized;
  const sizeS = sizeOf(buckets.text);
  const top = groupsMax === undefined ? undefined : topGroups(items, normalized, groupsMax);
  const rows = sumBy(items, (item) => {
    const other = top !== undefined && !top.has(groupKey(item, normalized));
    return {
      bucket: sizeS === undefined ? null : bucketStart(item.occurredAt, sizeS, timezone),
      ...kindOf(item, normalized),
      group: other ? Object.fromEntries(Object.keys(item.group).map((name) => [name, null])) : item.group,
      ...(top === undefined ? {} : { other }),
    };
  });
  return rows.map(([row, sums]) => ({
    ...row,
    ...Object.fromEntries(
      measures.map((measure) => [
        measure,
        measure === 'item_count' ? Number(sums[measure]) : toText(fromStored(sums[measure])),
      ]),
    ),
  }));
}

/** Returns the keys of the groups with the largest first measure, within each metric, unit and currency. */
function topGroups(
  items: readonly CountedItem[],
  normalized: NormalizedQuery,
  groupsMax: number,
): Set<string> {
  const {
    measures: [first = 'amount'],
    dimensions,
  } = normalized;
  const groups = sumBy(items, (item) => ({ ...kindOf(item, normalized), group: item.group }));
  groups.sort(([a, sumsA], [b, sumsB]) => {
    if (sumsA[first] !== sumsB[first]) return sumsA[first] > sumsB[first] ? -1 : 1;
    for (const name of dimensions) {
      const order = compareValues(a.group[name] ?? null, b.group[name] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  });
  const taken = new Map<string, number>();
  const top = new Set<string>();
  for (const [{ group, ...kind }] of groups) {
    const key = JSON.stringify(kind);
    const count = (taken.get(key) ?? 0) + 1;
    taken.set(key, count);
    if (count <= groupsMax) top.add(JSON.stringify({ ...kind, group }));
  }
  return top;
}

/** By bytes; values without the dimension last. */
function compareValues(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function groupKey(item: CountedItem, normalized: NormalizedQuery): string {
  return JSON.stringify({ ...kindOf(item, normalized), group: item.group });
}

function kindOf({ metric, unit, currency }: CountedItem, { splitsMetrics }: NormalizedQuery) {
  if (!splitsMetrics) return { metric: null, unit: null, currency: currency || null };
  return { metric, unit: unit || null, currency: currency || null };
}

function sumBy<Key>(items: readonly CountedItem[], keyOf: (item: CountedItem) => Key): [Key, Sums][] {
  const found = new Map<string, [Key, Sums]>();
  for (const item of items) {
    const key = keyOf(item);
    const text = JSON.stringify(key);
    const [, sums] = found.get(text) ?? [key, { item_count: 0n, quantity: 0n, amount: 0n }];
    found.set(text, [key, sums]);
    sums.item_count++;
    sums.quantity += item.quantity;
    sums.amount += item.amount;
  }
  return [...found.values()];
}

function passes(value: string | undefined, filter: DimensionFilter): boolean {
  if (filter.exists !== undefined) return (value !== undefined) === filter.exists;
  if (filter.in !== undefined) return value !== undefined && filter.in.includes(value);
  return value === undefined || !(filter.not_in ?? []).includes(value);
}

function valueIn(row: UsageEventRow, item: UsageItemRow, name: string): string | undefined {
  if (name === '@pricing_source') return item.pricingSource;
  if (name === '@account_id') return row.accountId || undefined;
  if (name.endsWith('subject_type')) return row.subjectType || undefined;
  if (name.endsWith('subject_id')) return row.subjectId || undefined;
  return row.dimensions.get(name);
}

function sizeOf(text: string): BucketSize | undefined {
  if (text.endsWith('mo')) return { months: Number.parseInt(text, 10) };
  const units: Record<string, number> = { m: 60, h: HOUR_S, d: DAY_S };
  return text === 'none' ? undefined : Number.parseInt(text, 10) * (units[text.at(-1) ?? ''] ?? 1);
}

export function sorted(answer: readonly AnalysisRow[]): AnalysisRow[] {
  return [...answer].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
