import { FRACTION_DIGITS_MAX } from '../../../kernel/decimal.js';

/**
 * Returns an array literal of PostgreSQL. It is written here and not by the driver, because a batch has tens of
 * thousands of subjects and most values need no escaping.
 */
export function arrayLiteral<Row>(rows: readonly Row[], element: (row: Row) => string | number): string {
  let text = '{';
  for (const row of rows) text += text.length === 1 ? element(row) : `,${element(row)}`;
  return `${text}}`;
}

/** Returns an array element with any text. */
export function quotedText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns a numeric with 18 fraction digits, of which the last may be zeros. */
export function numericText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(FRACTION_DIGITS_MAX + 1, '0');
  const sign = amount < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -FRACTION_DIGITS_MAX)}.${digits.slice(-FRACTION_DIGITS_MAX)}`;
}
