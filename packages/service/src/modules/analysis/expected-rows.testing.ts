import { type AnalysisQuery, type AnalysisRow, type DimensionFilter, isOfCosts } from '@tollgate/contract';
import { type BucketSize, bucketStart } from '../../kernel/bucket.js';
import type { UsageEventRow } from '../usage/index.js';
import { exactMeasure, expectedMeasure, type MeasuredItem, valueIn } from './expected-measures.testing.js';
import { type NormalizedQuery, normalizeQuery } from './normalize.js';

const HOUR_S = 3_600;
const DAY_S = 86_400;

/** The rows that the query must return, computed from the events one by one. Rows are sorted by their text. */
export function expectedRows(events: readonly UsageEventRow[], query: AnalysisQuery): AnalysisRow[] {
  const normalized = normalizeQuery(query, 0);
  const { from, to, filters, metrics, dimensions, measures } = normalized;
  const items: CountedItem[] = [];
  for (const event of events) {
    if (event.occurredAt < from || event.occurredAt >= to) continue;
    for (const item of event.items) {
      if (!(metrics?.includes(item.metric) ?? true)) continue;
      if (!filters.every(([name, filter]) => passes(valueIn(event, item, name), filter))) continue;
      const group = Object.fromEntries(dimensions.map((name) => [name, valueIn(event, item, name) ?? null]));
      items.push({ part: 'charge', event, item, currency: item.currency, group });
      const { cost } = item;
      if (cost === null || !measures.some(isOfCosts)) continue;
      items.push({ part: 'cost', event, item, currency: cost.currency, group });
    }
  }
  return sorted(summed(items, normalized));
}

type CountedItem = MeasuredItem & {
  readonly currency: string;
  readonly group: Record<string, string | null>;
};

function summed(items: readonly CountedItem[], normalized: NormalizedQuery): AnalysisRow[] {
  const { buckets, timezone, measures, groupsMax } = normalized;
  const sizeS = sizeOf(buckets.text);
  const top = groupsMax === undefined ? undefined : topGroups(items, normalized, groupsMax);
  const rows = groupsOf(items, (item) => {
    const other = top !== undefined && !top.has(groupKey(item, normalized));
    return {
      bucket: sizeS === undefined ? null : bucketStart(item.event.occurredAt, sizeS, timezone),
      ...kindOf(item, normalized),
      group: other ? Object.fromEntries(Object.keys(item.group).map((name) => [name, null])) : item.group,
      ...(top === undefined ? {} : { other }),
    };
  });
  return rows.map(([row, ofRow]) => ({
    ...row,
    ...Object.fromEntries(measures.map((measure) => [measure, expectedMeasure(ofRow, measure)])),
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
  const groups = groupsOf(items, (item) => ({ ...kindOf(item, normalized), group: item.group }));
  const ranked = groups.map(([key, ofGroup]) => [key, exactMeasure(ofGroup, first)] as const);
  ranked.sort(([a, first], [b, second]) => {
    if (first !== second) return first > second ? -1 : 1;
    for (const name of dimensions) {
      const order = compareValues(a.group[name] ?? null, b.group[name] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  });
  const taken = new Map<string, number>();
  const top = new Set<string>();
  for (const [{ group, ...kind }] of ranked) {
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

function kindOf({ item: { metric, unit }, currency }: CountedItem, { splitsMetrics }: NormalizedQuery) {
  if (!splitsMetrics) return { metric: null, unit: null, currency: currency || null };
  return { metric, unit: unit || null, currency: currency || null };
}

function groupsOf<Key>(
  items: readonly CountedItem[],
  keyOf: (item: CountedItem) => Key,
): [Key, CountedItem[]][] {
  const found = new Map<string, [Key, CountedItem[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const text = JSON.stringify(key);
    const [, members] = found.get(text) ?? [key, []];
    found.set(text, [key, members]);
    members.push(item);
  }
  return [...found.values()];
}

function passes(value: string | undefined, filter: DimensionFilter): boolean {
  if (filter.exists !== undefined) return (value !== undefined) === filter.exists;
  if (filter.in !== undefined) return value !== undefined && filter.in.includes(value);
  return value === undefined || !(filter.not_in ?? []).includes(value);
}

function sizeOf(text: string): BucketSize | undefined {
  if (text.endsWith('mo')) return { months: Number.parseInt(text, 10) };
  const units: Record<string, number> = { m: 60, h: HOUR_S, d: DAY_S };
  return text === 'none' ? undefined : Number.parseInt(text, 10) * (units[text.at(-1) ?? ''] ?? 1);
}

export function sorted(answer: readonly AnalysisRow[]): AnalysisRow[] {
  return [...answer].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
