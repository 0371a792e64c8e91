import {
  type Decimal,
  FRACTION_DIGITS_MAX,
  INTEGER_DIGITS_MAX,
  round,
  sign,
  toStored,
} from '../../../kernel/decimal.js';
import { decimalFromJson, NumericText } from '../../../kernel/json/json.js';

/** A price of the table, or the reason why it is not one. */
export type ReadPrice =
  | { readonly ok: true; readonly price: Decimal; readonly isRounded: boolean }
  | { readonly ok: false; readonly reason: string };

/**
 * Returns the exact value of a parsed price, with every digit of the table; rounded half-even where it has more than
 * can be recorded.
 */
export function readPrice(value: unknown): ReadPrice {
  if (typeof value !== 'number' && !(value instanceof NumericText)) return refused('is not a number');
  const written = decimalFromJson(value);
  if (written === undefined) return refused('is out of range');
  if (sign(written) < 0) return refused('is negative');
  const price = round(written, FRACTION_DIGITS_MAX);
  if (toStored(price) === undefined) return refused(`has more than ${INTEGER_DIGITS_MAX} integer digits`);
  return { ok: true, price, isRounded: price !== written };
}

function refused(reason: string): ReadPrice {
  return { ok: false, reason };
}
