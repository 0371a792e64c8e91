/**
 * Exact decimals for money and quantities: an integer coefficient over a power of ten, never a float.
 * Addition, subtraction and multiplication are exact; only functions that take a `scale` round.
 */

/** Fraction digits of a stored value; a recorded result is rounded to them once, half-even. */
export const FRACTION_DIGITS_MAX = 18;
/** Integer digits of a stored value. */
export const INTEGER_DIGITS_MAX = 20;
/** Upper bound of the coefficient's digits in an intermediate value. Every finite double fits (309 digits at most). */
export const COEFFICIENT_DIGITS_MAX = 400;
/** Upper bound of the fraction digits of an intermediate value. Every finite double fits (324 at most). */
export const SCALE_MAX = 400;

/** A value or an intermediate result is too large or has too many fraction digits. */
export class DecimalRangeError extends RangeError {
  override readonly name = 'DecimalRangeError';
}

/** The divisor is zero. */
export class DivisionByZeroError extends RangeError {
  override readonly name = 'DivisionByZeroError';
}

/** The exact number `coefficient / 10^scale`. Equal numbers may differ in scale: compare with {@link equals}. */
export class Decimal {
  constructor(
    readonly coefficient: bigint,
    /** A whole number from 0 to {@link SCALE_MAX}. */
    readonly scale: number,
  ) {}

  toString(): string {
    return toText(this);
  }

  toJSON(): string {
    return toText(this);
  }
}

/** An alignment needs at most SCALE_MAX fraction digits for each operand, and a division adds one more scale. */
const POWERS_OF_TEN: readonly bigint[] = Array.from(
  { length: 2 * SCALE_MAX + 1 },
  (_, n) => 10n ** BigInt(n),
);
/** The smallest magnitude with too many digits. */
export const COEFFICIENT_BOUND = 10n ** BigInt(COEFFICIENT_DIGITS_MAX);
const NEGATIVE_BOUND = -COEFFICIENT_BOUND;
const CODE_0 = 48;

export const ZERO = new Decimal(0n, 0);

/** Returns 10^exponent from a table. */
export function powerOfTen(exponent: number): bigint {
  const power = POWERS_OF_TEN[exponent];
  if (power === undefined) throw new DecimalRangeError(`scale ${exponent} is outside 0 to ${2 * SCALE_MAX}`);
  return power;
}

/** @throws DecimalRangeError beyond the bounds of an intermediate value */
export function bounded(coefficient: bigint, scale: number): Decimal {
  if (scale > SCALE_MAX) throw new DecimalRangeError(`more than ${SCALE_MAX} fraction digits`);
  if (coefficient >= COEFFICIENT_BOUND || coefficient <= NEGATIVE_BOUND) {
    throw new DecimalRangeError(`more than ${COEFFICIENT_DIGITS_MAX} digits`);
  }
  return new Decimal(coefficient, scale);
}

/** Returns plain text: no exponent, no trailing zeros, never `-0`. */
export function toText(a: Decimal): string {
  const digits = a.coefficient.toString();
  if (a.scale === 0 || digits === '0') return digits;
  const negative = a.coefficient < 0n;
  const magnitude = (negative ? digits.slice(1) : digits).padStart(a.scale + 1, '0');
  const dot = magnitude.length - a.scale;
  let end = magnitude.length;
  while (end > dot && magnitude.charCodeAt(end - 1) === CODE_0) end--;
  const text =
    end === dot ? magnitude.slice(0, dot) : `${magnitude.slice(0, dot)}.${magnitude.slice(dot, end)}`;
  return negative ? `-${text}` : text;
}
