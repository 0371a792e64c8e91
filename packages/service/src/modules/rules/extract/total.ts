import { add, type Decimal, DecimalRangeError, ZERO } from '../../../kernel/decimal.js';
import { RatingFailure } from './failure.js';

/** Reads a number; undefined where the event has none. */
export type ReadPart = (rawJson: unknown) => Decimal | undefined | RatingFailure;

/**
 * The exact sum of what the entries have; undefined where none of them has a number, the first failure where
 * one fails.
 */
export function addUp<T>(
  entries: readonly T[],
  readEntry: (entry: T) => ReturnType<ReadPart>,
  outOfRange: RatingFailure,
): ReturnType<ReadPart> {
  let sum: Decimal | undefined;
  for (const entry of entries) {
    const value = readEntry(entry);
    if (value instanceof RatingFailure) return value;
    if (value === undefined) continue;
    const before: Decimal = sum ?? ZERO;
    sum = totalInRange(() => add(before, value));
    if (sum === undefined) return outOfRange;
  }
  return sum;
}

/** Undefined where the digits of both together are more than a decimal holds. */
export function totalInRange(compute: () => Decimal): Decimal | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof DecimalRangeError) return undefined;
    throw error;
  }
}
