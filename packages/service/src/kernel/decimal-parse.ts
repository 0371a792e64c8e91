import {
  bounded,
  COEFFICIENT_BOUND,
  COEFFICIENT_DIGITS_MAX,
  Decimal,
  powerOfTen,
  SCALE_MAX,
  ZERO,
} from './decimal-value.js';

/** Longest text that is parsed; longer text is refused before any of its digits is converted. */
const DECIMAL_TEXT_CHARS_MAX = 1_024;
/** Any integer of this many digits is exact as a double, so it can be built digit by digit. */
const SAFE_DIGITS = 15;

const CODE_PLUS = 43;
const CODE_MINUS = 45;
const CODE_DOT = 46;
const CODE_0 = 48;
const CODE_9 = 57;
const CODE_UPPER_E = 69;
const CODE_LOWER_E = 101;

/**
 * Reads a number in the grammar of JSON (RFC 8259 section 6): `-3`, `0.10`, `1.5e-7`. Returns undefined for anything
 * else (a leading `+` or zero, hex, `Infinity`, spaces) and for numbers out of range.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const length = text.length;
  if (length === 0 || length > DECIMAL_TEXT_CHARS_MAX) return undefined;
  const negative = text.charCodeAt(0) === CODE_MINUS;
  const from = negative ? 1 : 0;
  const integerEnd = skipDigits(text, from);
  if (integerEnd === from) return undefined;
  if (text.charCodeAt(from) === CODE_0 && integerEnd > from + 1) return undefined;

  let digitsEnd = integerEnd;
  if (text.charCodeAt(integerEnd) === CODE_DOT) {
    digitsEnd = skipDigits(text, integerEnd + 1);
    if (digitsEnd === integerEnd + 1) return undefined;
  }
  if (digitsEnd === length && digitsEnd - from <= SAFE_DIGITS) {
    return shortDecimal(text, from, integerEnd, digitsEnd, negative);
  }
  const exponent = digitsEnd === length ? 0 : parseExponent(text, digitsEnd);
  if (exponent === undefined) return undefined;
  return longDecimal(text.slice(from, integerEnd), text.slice(integerEnd + 1, digitsEnd), exponent, negative);
}

/** Returns the index of the first character at or after `from` that is not a digit. */
function skipDigits(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < CODE_0 || code > CODE_9) break;
  }
  return at;
}

/** The common case: digits that a double holds exactly, and no exponent. */
function shortDecimal(
  text: string,
  from: number,
  integerEnd: number,
  digitsEnd: number,
  negative: boolean,
): Decimal | undefined {
  let magnitude = 0;
  for (let at = from; at < digitsEnd; at++) {
    if (at !== integerEnd) magnitude = magnitude * 10 + text.charCodeAt(at) - CODE_0;
  }
  const fractionDigits = integerEnd === digitsEnd ? 0 : digitsEnd - integerEnd - 1;
  return new Decimal(BigInt(negative ? -magnitude : magnitude), fractionDigits);
}

/** Returns the exponent of a number, from its `e` to the end of the text; ±Infinity when it has hundreds of digits. */
function parseExponent(text: string, from: number): number | undefined {
  const marker = text.charCodeAt(from);
  if (marker !== CODE_LOWER_E && marker !== CODE_UPPER_E) return undefined;
  const sign = text.charCodeAt(from + 1);
  const digits = sign === CODE_PLUS || sign === CODE_MINUS ? from + 2 : from + 1;
  if (digits >= text.length || skipDigits(text, digits) !== text.length) return undefined;
  const exponent = Number(text.slice(digits));
  return sign === CODE_MINUS ? -exponent : exponent;
}

/** Returns integer.fraction × 10^exponent, if it is in range without the zeros at its ends. */
function longDecimal(
  integer: string,
  fraction: string,
  exponent: number,
  negative: boolean,
): Decimal | undefined {
  const digits = integer + fraction;
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === CODE_0) end--;
  if (end === 0) return ZERO;
  // May be infinite: only zero is in range with such an exponent, and it was returned above.
  const scale = fraction.length - (digits.length - end) - exponent;
  if (scale > SCALE_MAX || scale < -COEFFICIENT_DIGITS_MAX) return undefined;
  const significand = BigInt(digits.slice(0, end));
  const magnitude = scale < 0 ? significand * powerOfTen(-scale) : significand;
  if (magnitude >= COEFFICIENT_BOUND) return undefined;
  return new Decimal(negative ? -magnitude : magnitude, Math.max(scale, 0));
}

/**
 * Returns the shortest decimal that denotes this double (what `String(n)` prints); undefined for NaN and infinities.
 */
export function decimalFromNumber(n: number): Decimal | undefined {
  if (Number.isSafeInteger(n)) return new Decimal(BigInt(n), 0);
  return Number.isFinite(n) ? parseDecimal(String(n)) : undefined;
}

/** @throws DecimalRangeError beyond {@link COEFFICIENT_DIGITS_MAX} digits */
export function decimalFromBigInt(n: bigint): Decimal {
  return bounded(n, 0);
}
