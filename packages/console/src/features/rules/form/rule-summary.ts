import type { PricingRule } from '@tollgate/contract';
import { priceText } from '../../../expressions.js';

/** What the name of a pricing rule does not say already, in one line. */
export function summaryOfRule(rule: PricingRule): string {
  const { name, metric, priority = 0, match_expr, unit_price_expr, pricing_unit, amount_expr } = rule;
  const isNamed = (name ?? metric).includes(metric);
  const price =
    unit_price_expr === undefined
      ? plainly(amount_expr ?? 'no price')
      : priceText(plainly(unit_price_expr), pricing_unit);
  return [
    ...(isNamed ? [] : [metric]),
    ...(match_expr === undefined ? [] : [`where ${match_expr}`]),
    `→ ${price}`,
    ...(priority === 0 ? [] : [`· priority ${priority}`]),
  ].join(' ');
}

/** An expression that is no more than a number, as that number. */
function plainly(expression: string): string {
  return /^dec\("([^"]*)"\)$/.exec(expression.trim())?.[1] ?? expression;
}
