import { add, type Decimal, DecimalRangeError, ZERO } from '../../../kernel/decimal.js';
import { RatingFailure } from './failure.js';

/** Reads a number; undefined where the event has none. */
export type ReadPart = (rawJson: unknown) => Decimal | undefined | RatingFailure;

/**
 * Returns the exact sum of the entries' numbers; undefined when none has a number, the first failure when one fails.
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

/** Returns undefined when the sum has more digits than a decimal can hold. */
export function totalInRange(compute: () => Decimal): Decimal | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof DecimalRangeError) return undefined;
    throw error;
  }
}
