import type { PricingRule } from '@tollgate/contract';
import {
  decimalFromBigInt,
  equals,
  FRACTION_DIGITS_MAX,
  INTEGER_DIGITS_MAX,
  mul,
  round,
  sign,
  toStored,
  toText,
} from '../../../kernel/decimal.js';
import { decimalFromJson, NumericText } from '../../../kernel/json/json.js';

/** A price as a rule states it. */
export type UnitPrice = Pick<PricingRule, 'unit_price_expr' | 'pricing_unit'>;

/** A price of the table, or the reason why it is not one. */
export type ReadPrice =
  | { readonly ok: true; readonly price: UnitPrice; readonly isRounded: boolean }
  | { readonly ok: false; readonly reason: string };

const PRICING_UNIT = 1_000_000;

/**
 * Returns a parsed price as the price of a million, as providers publish it, with every digit of the table; the price
 * of one when a million would cost more than can be recorded. It is rounded half-even where it has more digits than a
 * price can have.
 */
export function readPrice(value: unknown): ReadPrice {
  if (typeof value !== 'number' && !(value instanceof NumericText)) return refused('is not a number');
  const written = decimalFromJson(value);
  if (written === undefined) return refused('is out of range');
  if (sign(written) < 0) return refused('is negative');
  const perMillion = mul(written, decimalFromBigInt(BigInt(PRICING_UNIT)));
  const isTooLarge = toStored(round(perMillion, FRACTION_DIGITS_MAX)) === undefined;
  const exact = isTooLarge ? written : perMillion;
  const price = round(exact, FRACTION_DIGITS_MAX);
  if (toStored(price) === undefined) return refused(`has more than ${INTEGER_DIGITS_MAX} integer digits`);
  const unit = isTooLarge ? {} : { pricing_unit: `${PRICING_UNIT}` };
  const unitPrice = { unit_price_expr: `dec("${toText(price)}")`, ...unit };
  return { ok: true, price: unitPrice, isRounded: !equals(price, exact) };
}

function refused(reason: string): ReadPrice {
  return { ok: false, reason };
}
