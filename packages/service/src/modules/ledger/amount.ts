import {
  equals,
  FRACTION_DIGITS_MAX,
  fromStored,
  powerOfTen,
  round,
  toStored,
  toText,
} from '../../kernel/decimal.js';
import { invalidRequest } from '../../kernel/errors.js';
import { decimalFromJson, NumericText, parseJson } from '../../kernel/json/json.js';

/** An amount of money or of a custom unit: value × 10^18. */
export type Amount = bigint;

export function smallerAmount(a: Amount, b: Amount): Amount {
  return a < b ? a : b;
}

export function greaterAmount(a: Amount, b: Amount): Amount {
  return a > b ? a : b;
}

/** Writes an amount as the API and PostgreSQL do. */
export function amountText(amount: Amount): string {
  return toText(fromStored(amount));
}

/** Writes an amount for PostgreSQL with all 18 fraction digits, which is quicker than `amountText`. */
export function numericText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(FRACTION_DIGITS_MAX + 1, '0');
  const sign = amount < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -FRACTION_DIGITS_MAX)}.${digits.slice(-FRACTION_DIGITS_MAX)}`;
}

/**
 * Reads a numeric as PostgreSQL writes it. A sum may have more digits than a single amount.
 *
 * @throws Error for text without a digit, which `BigInt` takes for 0, and for anything else that is not a number
 */
export function amountFromText(text: string): Amount {
  if (!/\d/.test(text)) throw new Error(`"${text}" is not an amount`);
  const dot = text.indexOf('.');
  if (dot < 0) return BigInt(text) * powerOfTen(FRACTION_DIGITS_MAX);
  const fraction = text.slice(dot + 1);
  return BigInt(text.slice(0, dot) + fraction) * powerOfTen(FRACTION_DIGITS_MAX - fraction.length);
}

/**
 * Reads a decimal field of a validated JSON body, with every digit that was sent.
 *
 * @throws DomainError `invalid_request` for text that is not a decimal, and for more digits than an amount has
 */
export function amountField(body: Buffer | undefined, field: string): Amount {
  return amountOfJson((parseJson(body ?? Buffer.of()) as Readonly<Record<string, unknown>>)[field], field);
}

/**
 * The same for a value of a body that was parsed with all digits.
 *
 * @param path the place of the value, for the error
 */
export function amountOfJson(value: unknown, path: string): Amount {
  const amount = exactAmount(value);
  if (amount === undefined)
    throw invalidRequest(path, 'expected a decimal of at most 20 integer and 18 fraction digits');
  return amount;
}

/**
 * Returns the amount of a decimal; undefined for text that is not a decimal, and for more digits than an amount has.
 */
export function exactAmount(value: unknown): Amount | undefined {
  const isNumber = typeof value === 'number' || value instanceof NumericText;
  const decimal = isNumber || typeof value === 'string' ? decimalFromJson(value) : undefined;
  if (decimal === undefined || !equals(decimal, round(decimal, FRACTION_DIGITS_MAX))) return undefined;
  return toStored(decimal);
}
