import { createHash } from 'node:crypto';
import { countOrNone } from '../../../kernel/present.js';
import type { PastUsageItem } from '../../usage/index.js';
import type { CountedUsage } from '../posting/rated-usage.js';
import type { CompiledRule } from '../rules/index.js';

/** A value that a rule counts: the text of a dimension, or a quantity × 10^18, above 0. */
export type CountedValue = string | bigint;

/** How often each value was counted, less how often it was taken back. */
export type CountedValues = Map<CountedValue, number>;

type Measured = Pick<CompiledRule, 'measure' | 'of'>;

/**
 * Whether the usage of a rule depends on which values its windows have seen, and not only on a sum: corrections take
 * values back, so windows keep them.
 */
export function countsValues({ measure }: Pick<Measured, 'measure'>): boolean {
  return measure === 'unique' || measure === 'max';
}

/**
 * Returns the value of a charge item. Undefined for one without the dimension, and for a quantity of 0 or less, which
 * cannot be the greatest: without usage, the greatest quantity is 0.
 */
export function countedValueOf(
  { measure, of }: Measured,
  { dimensions, isReversal }: CountedUsage,
  { quantity, source }: PastUsageItem,
): CountedValue | undefined {
  // A remainder of a correction is an amount, and not counted.
  if (source === 'correction') return undefined;
  if (measure === 'unique') return of === undefined ? undefined : dimensions.get(of);
  const counted = isReversal === true ? -quantity : quantity;
  return counted > 0n ? counted : undefined;
}

/** Adds occurrences of a value; a negative number takes them back. */
export function addValue(
  sum: { values: CountedValues | undefined },
  value: CountedValue,
  occurrences: number,
): void {
  sum.values ??= new Map();
  sum.values.set(value, countOrNone(sum.values.get(value)) + occurrences);
}

const STORED_BYTES = 16;
const STORED_DIGITS = 2 * STORED_BYTES;

/**
 * Returns the 16 bytes, in hexadecimal digits, under which a value is stored: the beginning of the SHA-256 of a text,
 * whose own length could exceed an index; a quantity as one number, so that the order of the bytes is that of
 * quantities. A quantity × 10^18 has at most 38 decimal digits, which 16 bytes can hold.
 */
export function storedValue(value: CountedValue): string {
  if (typeof value === 'bigint') return value.toString(16).padStart(STORED_DIGITS, '0');
  return createHash('sha256').update(value).digest('hex').slice(0, STORED_DIGITS);
}

/** Returns the quantity × 10^18 that was stored as these digits. */
export function storedQuantity(digits: string): bigint {
  return BigInt(`0x${digits}`);
}
