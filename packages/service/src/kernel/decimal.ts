import {
  bounded,
  Decimal,
  DecimalRangeError,
  DivisionByZeroError,
  FRACTION_DIGITS_MAX,
  INTEGER_DIGITS_MAX,
  powerOfTen,
  SCALE_MAX,
} from './decimal-value.js';

export { decimalFromBigInt, decimalFromNumber, parseDecimal } from './decimal-parse.js';
export * from './decimal-value.js';

const STORED_BOUND = 10n ** BigInt(INTEGER_DIGITS_MAX + FRACTION_DIGITS_MAX);
const NEGATIVE_STORED_BOUND = -STORED_BOUND;

/** 1 in its stored form. */
export const ONE_STORED = 10n ** BigInt(FRACTION_DIGITS_MAX);

export type Sign = -1 | 0 | 1;

function assertScale(scale: number): void {
  if (!Number.isInteger(scale) || scale < 0 || scale > SCALE_MAX) {
    throw new DecimalRangeError(`scale must be a whole number from 0 to ${SCALE_MAX}`);
  }
}

/** @throws DecimalRangeError */
export function add(a: Decimal, b: Decimal): Decimal {
  if (a.scale === b.scale) return bounded(a.coefficient + b.coefficient, a.scale);
  return a.scale < b.scale
    ? bounded(a.coefficient * powerOfTen(b.scale - a.scale) + b.coefficient, b.scale)
    : bounded(a.coefficient + b.coefficient * powerOfTen(a.scale - b.scale), a.scale);
}

/** @throws DecimalRangeError */
export function sub(a: Decimal, b: Decimal): Decimal {
  if (a.scale === b.scale) return bounded(a.coefficient - b.coefficient, a.scale);
  return a.scale < b.scale
    ? bounded(a.coefficient * powerOfTen(b.scale - a.scale) - b.coefficient, b.scale)
    : bounded(a.coefficient - b.coefficient * powerOfTen(a.scale - b.scale), a.scale);
}

/** @throws DecimalRangeError */
export function mul(a: Decimal, b: Decimal): Decimal {
  return bounded(a.coefficient * b.coefficient, a.scale + b.scale);
}

export function neg(a: Decimal): Decimal {
  return new Decimal(-a.coefficient, a.scale);
}

export function abs(a: Decimal): Decimal {
  return a.coefficient < 0n ? neg(a) : a;
}

export function min(a: Decimal, b: Decimal): Decimal {
  return compare(b, a) < 0 ? b : a;
}

export function max(a: Decimal, b: Decimal): Decimal {
  return compare(b, a) > 0 ? b : a;
}

/** Compares the values; their scales may differ. */
export function compare(a: Decimal, b: Decimal): Sign {
  let left = a.coefficient;
  let right = b.coefficient;
  if (a.scale < b.scale) left *= powerOfTen(b.scale - a.scale);
  else if (a.scale > b.scale) right *= powerOfTen(a.scale - b.scale);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function equals(a: Decimal, b: Decimal): boolean {
  return compare(a, b) === 0;
}

export function isZero(a: Decimal): boolean {
  return a.coefficient === 0n;
}

export function sign(a: Decimal): Sign {
  if (a.coefficient === 0n) return 0;
  return a.coefficient < 0n ? -1 : 1;
}

/**
 * Returns numerator / denominator rounded to the nearest integer, ties to the even one. The denominator is not zero.
 */
function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const remainder = numerator - quotient * denominator;
  if (remainder === 0n) return quotient;
  const twice = remainder < 0n ? -2n * remainder : 2n * remainder;
  const whole = denominator < 0n ? -denominator : denominator;
  if (twice < whole || (twice === whole && (quotient & 1n) === 0n)) return quotient;
  return numerator < 0n === denominator < 0n ? quotient + 1n : quotient - 1n;
}

/**
 * Returns a / b, rounded half-even to `scale` fraction digits.
 * @throws DivisionByZeroError
 * @throws DecimalRangeError
 */
export function divide(a: Decimal, b: Decimal, scale: number): Decimal {
  assertScale(scale);
  if (b.coefficient === 0n) throw new DivisionByZeroError('division by zero');
  const shift = scale + b.scale - a.scale;
  return shift >= 0
    ? bounded(divideHalfEven(a.coefficient * powerOfTen(shift), b.coefficient), scale)
    : bounded(divideHalfEven(a.coefficient, b.coefficient * powerOfTen(-shift)), scale);
}

/**
 * Rounds half-even to at most `scale` fraction digits; a value with fewer is returned as it is.
 * @throws DecimalRangeError when `scale` is not a whole number from 0 to {@link SCALE_MAX}
 */
export function round(a: Decimal, scale: number): Decimal {
  assertScale(scale);
  if (a.scale <= scale) return a;
  return new Decimal(divideHalfEven(a.coefficient, powerOfTen(a.scale - scale)), scale);
}

/** Rounds toward negative infinity; otherwise as {@link round}. */
export function floor(a: Decimal, scale: number): Decimal {
  assertScale(scale);
  if (a.scale <= scale) return a;
  const unit = powerOfTen(a.scale - scale);
  const truncated = a.coefficient / unit;
  return new Decimal(truncated * unit > a.coefficient ? truncated - 1n : truncated, scale);
}

/** Rounds toward positive infinity; otherwise as {@link round}. */
export function ceil(a: Decimal, scale: number): Decimal {
  assertScale(scale);
  if (a.scale <= scale) return a;
  const unit = powerOfTen(a.scale - scale);
  const truncated = a.coefficient / unit;
  return new Decimal(truncated * unit < a.coefficient ? truncated + 1n : truncated, scale);
}

/**
 * Returns the stored form, value × 10^18, rounded half-even; undefined for more than {@link INTEGER_DIGITS_MAX} integer
 * digits.
 */
export function toStored(a: Decimal): bigint | undefined {
  const shift = FRACTION_DIGITS_MAX - a.scale;
  const stored =
    shift >= 0 ? a.coefficient * powerOfTen(shift) : divideHalfEven(a.coefficient, powerOfTen(-shift));
  return isStorable(stored) ? stored : undefined;
}

/** Returns whether an integer is the stored form of a value: whether it has few enough digits. */
export function isStorable(stored: bigint): boolean {
  return stored < STORED_BOUND && stored > NEGATIVE_STORED_BOUND;
}

/** The inverse of {@link toStored}. */
export function fromStored(stored: bigint): Decimal {
  return new Decimal(stored, FRACTION_DIGITS_MAX);
}
