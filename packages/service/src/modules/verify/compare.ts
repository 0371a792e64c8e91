import type { VerifyDifference } from '@tollgate/contract';
import { dayText } from '../../kernel/day-text.js';
import { equals, parseDecimal, toText } from '../../kernel/decimal.js';

/** The values that both sides must agree on. Sums are per metric, unit and currency; counts of events are not. */
export type ComparedMeasure =
  | 'item_count'
  | 'quantity'
  | 'amount'
  | 'cost'
  | 'cost_count'
  | 'minimum'
  | 'maximum'
  | 'processed_count'
  | 'failed_count'
  | 'voided_count'
  | 'unpriced_count'
  | 'correction_count'
  | 'event_count'
  | 'event_id_sum';

/** One number of one project's day, in one store. */
export interface Measurement {
  readonly tenantId: string;
  readonly projectId: string;
  /** Days since 1970, UTC. */
  readonly day: number;
  /** Null for counts of events. */
  readonly metric: string | null;
  readonly unit: string | null;
  readonly currency: string | null;
  readonly measure: ComparedMeasure;
  /** A decimal; numbers that a store does not have are 0. */
  readonly value: string;
}

/** A project's day, which is judged as a whole. */
export type ProjectDay = Pick<Measurement, 'tenantId' | 'projectId' | 'day'>;

/** Days since 1970 (UTC), `from` inclusive and `to` exclusive. */
export interface DaySpan {
  readonly from: number;
  readonly to: number;
}

export interface DayComparison {
  readonly compared: number;
  readonly differences: VerifyDifference[];
}

const ABSENT = '0';

export function dayKey({ tenantId, projectId, day }: ProjectDay): string {
  return JSON.stringify([tenantId, projectId, day]);
}

/** A number that two sides do not agree on; decimals, `ABSENT` where a side does not have it. */
interface UnequalNumber {
  readonly at: Measurement;
  readonly expected: string;
  readonly found: string;
}

/**
 * Compares every number of both sides. Measures of `expected` that the store does not keep must be left out by the
 * caller. `store` names the side of `found`.
 */
export function compareDays(
  store: string,
  expected: readonly Measurement[],
  found: readonly Measurement[],
): DayComparison {
  const { compared, unequal } = compareNumbers(expected, found);
  return { compared, differences: unequal.map((each) => differenceOf(store, each)) };
}

/** Compares every number of both sides; returns how many these are, and those that differ. */
export function compareNumbers(
  expected: readonly Measurement[],
  found: readonly Measurement[],
): { readonly compared: number; readonly unequal: readonly UnequalNumber[] } {
  const expectedByKey = new Map(expected.map((measurement) => [measurementKey(measurement), measurement]));
  const foundByKey = new Map(found.map((measurement) => [measurementKey(measurement), measurement]));
  const all = new Map([...expectedByKey, ...foundByKey]);
  const unequal: UnequalNumber[] = [];
  for (const [key, at] of all) {
    const expectedValue = expectedByKey.get(key)?.value ?? ABSENT;
    const foundValue = foundByKey.get(key)?.value ?? ABSENT;
    if (!equals(decimalOf(expectedValue), decimalOf(foundValue))) {
      unequal.push({ at, expected: expectedValue, found: foundValue });
    }
  }
  return { compared: all.size, unequal };
}

/** Returns the days whose numbers differ between two readings of the same store. */
export function changedDays(before: readonly Measurement[], after: readonly Measurement[]): Set<string> {
  const changed = new Set<string>();
  const values = new Map(before.map((measurement) => [measurementKey(measurement), measurement]));
  for (const measurement of after) {
    const key = measurementKey(measurement);
    if (values.get(key)?.value !== measurement.value) changed.add(dayKey(measurement));
    values.delete(key);
  }
  for (const gone of values.values()) changed.add(dayKey(gone));
  return changed;
}

function measurementKey({ metric, unit, currency, measure, ...day }: Measurement): string {
  return JSON.stringify([day.tenantId, day.projectId, day.day, measure, metric, unit, currency]);
}

function differenceOf(store: string, { at, expected, found }: UnequalNumber): VerifyDifference {
  return {
    tenant_id: at.tenantId,
    project_id: at.projectId,
    day: dayText(at.day),
    store,
    metric: at.metric,
    unit: at.unit,
    currency: at.currency,
    measure: at.measure,
    expected: toText(decimalOf(expected)),
    found: toText(decimalOf(found)),
  };
}

/** @throws Error when it is not a decimal: a store always returns one */
export function decimalOf(text: string) {
  const decimal = parseDecimal(text);
  if (decimal === undefined) throw new Error(`a store returned ${text} for a number`);
  return decimal;
}

/** Returns the counts found, without unpriced events of days for which the totals have no such count. */
export function countedAlike(expected: readonly Measurement[], found: readonly Measurement[]): Measurement[] {
  const counted = new Set<string>();
  for (const day of expected) if (day.measure === 'unpriced_count') counted.add(dayKey(day));
  return found.filter((day) => day.measure !== 'unpriced_count' || counted.has(dayKey(day)));
}

/** Number of days that are read at a time, which bounds the memory and the changes meanwhile. */
const SPAN_DAYS = 7;

/** Returns spans of at most SPAN_DAYS that contain all the days and begin with one of them. */
export function spansOf(days: readonly number[]): DaySpan[] {
  const spans: DaySpan[] = [];
  for (const day of [...new Set(days)].sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last === undefined || day >= last.to) spans.push({ from: day, to: day + SPAN_DAYS });
  }
  return spans;
}
