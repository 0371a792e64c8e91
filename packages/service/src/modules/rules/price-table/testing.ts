import type { PricingRule } from '@tollgate/contract';
import { divide, FRACTION_DIGITS_MAX, toText } from '../../../kernel/decimal.js';
import { decimal } from '../expression/testing.js';

/** The price of one unit, of however many units the rule states it. */
export function priceOfOne({ unit_price_expr = '', pricing_unit = '1' }: PricingRule): string {
  const [, price = ''] = /^dec\("(.+)"\)$/.exec(unit_price_expr) ?? [];
  return `dec("${toText(divide(decimal(price), decimal(`${pricing_unit}`), FRACTION_DIGITS_MAX))}")`;
}
