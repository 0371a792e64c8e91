import { FRACTION_DIGITS_MAX } from '../../../kernel/decimal.js';

/**
 * An array literal of PostgreSQL, written here and not by the driver: a batch has tens of thousands of
 * subjects, and most of what is written of them needs no escaping.
 */
export function arrayLiteral<Row>(rows: readonly Row[], element: (row: Row) => string | number): string {
  let text = '{';
  for (const row of rows) text += text.length === 1 ? element(row) : `,${element(row)}`;
  return `${text}}`;
}

/** An element of any text. */
export function quotedText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** A numeric with 18 fraction digits, of which the last may be zeros. */
export function numericText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(FRACTION_DIGITS_MAX + 1, '0');
  const sign = amount < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -FRACTION_DIGITS_MAX)}.${digits.slice(-FRACTION_DIGITS_MAX)}`;
}
