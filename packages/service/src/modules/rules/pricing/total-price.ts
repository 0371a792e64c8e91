import type { PricingAlias } from '@tollgate/contract';
import { DecimalRangeError, parseDecimal, toText } from '../../../kernel/decimal.js';
import { compileExpression, EventSteps, EventStepsError, ExpressionError } from '../expression/index.js';
import { recorded } from '../extract/index.js';
import { appliedAliases } from './applied-aliases.js';
import { envOf, type RecordedItem } from './recorded-item.js';

/** A total and the expression of its price. */
export interface TotalToPrice {
  readonly expression: string;
  /** Dimensions that the expression may read. */
  readonly by: readonly string[];
  /** The total, a decimal. */
  readonly quantity: string;
}

/**
 * Returns the aliases by which a rule matched a charge item, and the price of its total. Aliases only decide which rule
 * applies: the expression sees the values of the event, as the counter does.
 */
export function explainedRule({
  config: { aliases = [] },
  rule,
  item,
  total,
}: {
  readonly config: { readonly aliases?: PricingAlias[] };
  readonly rule: { readonly metric: string; readonly match_expr?: string };
  readonly item: RecordedItem;
  readonly total?: TotalToPrice;
}) {
  return {
    aliases: appliedAliases({ aliases }, rule, item),
    totalPrice: total === undefined ? null : totalPrice(total, item),
  };
}

/** Returns the price of a total as it was rounded for its charge item; null if it cannot be computed. */
function totalPrice({ expression, by, quantity: text }: TotalToPrice, item: RecordedItem): string | null {
  const compiled = compileExpression(expression, { kind: 'total', dimensions: by });
  const quantity = parseDecimal(text);
  if (!compiled.ok || quantity === undefined) return null;
  try {
    const price = recorded(compiled.evaluate({ ...envOf(item, new EventSteps()), quantity }));
    return price === undefined ? null : toText(price.value);
  } catch (error) {
    const isOfRule = error instanceof ExpressionError || error instanceof EventStepsError;
    if (isOfRule || error instanceof DecimalRangeError) return null;
    throw error;
  }
}
