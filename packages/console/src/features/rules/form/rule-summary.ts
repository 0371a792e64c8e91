import type { PricingRule } from '@tollgate/contract';
import { priceText } from '../../../expressions.js';
import { hasPrice, type RulePrice } from '../price-model/model.js';
import { priceInWords } from '../price-model/price-words.js';

/**
 * One-line summary of a pricing rule, without what its name already says. The price comes before the condition, because
 * the end of a long line is cut.
 */
export function summaryOfRule(rule: PricingRule): string {
  const { name, metric, priority = 0, match_expr } = rule;
  const isNamed = (name ?? metric).includes(metric);
  return [
    ...(isNamed ? [] : [metric]),
    `→ ${summaryOfPrice(rule) ?? 'no price'}`,
    ...(match_expr === undefined ? [] : [`where ${match_expr}`]),
    ...(priority === 0 ? [] : [`· priority ${priority}`]),
  ].join(' ');
}

/** The price in words if it is one of the models, otherwise its expression; undefined without a price. */
export function summaryOfPrice(price: RulePrice): string | undefined {
  const { unit_price_expr, pricing_unit, amount_expr, total_expr } = price;
  if (!hasPrice(price)) return undefined;
  const source = total_expr ?? amount_expr;
  return (
    priceInWords(price) ??
    (unit_price_expr === undefined
      ? plainly(source ?? '…')
      : priceText(plainly(unit_price_expr), pricing_unit))
  );
}

/** Shortens an expression that is only a number to that number. */
function plainly(expression: string): string {
  return /^dec\("([^"]*)"\)$/.exec(expression.trim())?.[1] ?? expression;
}
