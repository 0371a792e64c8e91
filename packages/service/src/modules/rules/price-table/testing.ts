import type { PricingRule } from '@tollgate/contract';
import { divide, FRACTION_DIGITS_MAX, toText } from '../../../kernel/decimal.js';
import { decimal } from '../expression/testing.js';

/** Returns the price of one unit of a rule that states it for `pricing_unit` units. */
export function priceOfOne({ unit_price_expr = '', pricing_unit = '1' }: PricingRule): string {
  const [, price = ''] = /^dec\("(.+)"\)$/.exec(unit_price_expr) ?? [];
  return `dec("${toText(divide(decimal(price), decimal(`${pricing_unit}`), FRACTION_DIGITS_MAX))}")`;
}
