import { isOfQuantities, isUnique, type Measure, uniqueName } from '@tollgate/contract';
import { Decimal, toText } from '../../kernel/decimal.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';

/** A charge item or its cost, and the event that has it. */
export interface MeasuredItem {
  readonly part: 'charge' | 'cost';
  readonly event: UsageEventRow;
  readonly item: UsageItemRow;
}

const PERCENTS: Readonly<Record<string, bigint>> = { p50: 50n, p90: 90n, p95: 95n, p99: 99n };

/** Returns a measure as a row has it, computed from the charge items one by one. */
export function expectedMeasure(items: readonly MeasuredItem[], measure: Measure): string | number | null {
  if (isOfQuantities(measure) && items.every(({ part }) => part === 'cost')) return null;
  const exact = exactMeasure(items, measure);
  if (measure === 'item_count' || isUnique(measure)) return Number(exact);
  return toText(new Decimal(exact, measure in PERCENTS ? 20 : 18));
}

/** Returns a measure as an integer: a count, or a decimal × 10^18, or × 10^20 for percentiles. */
export function exactMeasure(parts: readonly MeasuredItem[], measure: Measure): bigint {
  const items = parts.filter(({ part }) => part === 'charge');
  const cost = parts.reduce(
    (sum, { part, item }) => sum + (part === 'cost' ? (item.cost?.amount ?? 0n) : 0n),
    0n,
  );
  if (measure === 'cost') return cost;
  if (measure === 'margin') return exactMeasure(items, 'amount') - cost;
  if (isOfQuantities(measure) && items.length === 0) return 0n;
  const quantities = items.map(({ item }) => item.quantity).sort((a, b) => (a < b ? -1 : 1));
  const [first = 0n, last = 0n] = [quantities[0], quantities.at(-1)];
  const percent = PERCENTS[measure];
  if (percent !== undefined) return percentile(quantities, percent);
  if (isUnique(measure)) return BigInt(valuesOf(items, uniqueName(measure) ?? '').size);
  if (measure === 'item_count') return BigInt(items.length);
  if (measure === 'amount') return items.reduce((sum, { item }) => sum + item.amount, 0n);
  if (measure === 'minimum') return first;
  if (measure === 'maximum') return last;
  const sum = quantities.reduce((total, each) => total + each, 0n);
  return measure === 'quantity' ? sum : halfEven(sum, BigInt(quantities.length));
}

function percentile(ascending: readonly bigint[], percent: bigint): bigint {
  const rank = BigInt(ascending.length - 1) * percent;
  const below = ascending[Number(rank / 100n)] ?? 0n;
  const above = ascending[Number(rank / 100n) + 1] ?? below;
  return below * 100n + (above - below) * (rank % 100n);
}

function halfEven(sum: bigint, count: bigint): bigint {
  const sign = sum < 0n ? -1n : 1n;
  const [cut, twiceTheRest] = [(sum * sign) / count, 2n * ((sum * sign) % count)];
  const isUp = twiceTheRest > count || (twiceTheRest === count && cut % 2n === 1n);
  return sign * (isUp ? cut + 1n : cut);
}

function valuesOf(items: readonly MeasuredItem[], name: string): Set<string> {
  return new Set(items.flatMap(({ event, item }) => valueIn(event, item, name) ?? []));
}

/** Returns the value of a dimension or of a reserved name. */
export function valueIn(row: UsageEventRow, item: UsageItemRow, name: string): string | undefined {
  if (name === '@pricing_source') return item.pricingSource;
  if (name === '@account_id') return row.accountId || undefined;
  if (name.endsWith('subject_type')) return row.subjectType || undefined;
  if (name.endsWith('subject_id')) return row.subjectId || undefined;
  return row.dimensions.get(name);
}
