import type { PricingRule } from '@tollgate/contract';
import { priceText } from '../../../expressions.js';

/** One-line summary of a pricing rule, without what its name already says. */
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

/** Shortens an expression that is only a number to that number. */
function plainly(expression: string): string {
  return /^dec\("([^"]*)"\)$/.exec(expression.trim())?.[1] ?? expression;
}
