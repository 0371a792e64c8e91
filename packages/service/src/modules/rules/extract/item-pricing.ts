import {
  type Decimal,
  FRACTION_DIGITS_MAX,
  fromStored,
  INTEGER_DIGITS_MAX,
  toStored,
} from '../../../kernel/decimal.js';
import { compileExpression, type ExpressionEnv, type ExpressionKind } from '../expression/index.js';
import type { Issues } from './issues.js';
import type { CompileResult, RuleExpression } from './rule-expression.js';

/** How the price of a charge item is computed: what its extractor carries, or a rule of a pricing rule set. */
export interface ItemPricing {
  readonly currency: string;
  readonly unitPrice: PriceExpression | undefined;
  /** Undefined: quantity × unit price. One of the two is there. */
  readonly amount: PriceExpression | undefined;
  /** The entry in the rule set, e.g. `charge_item_extractors[0]` or `rules[3]`. */
  readonly path: string;
}

/** An expression that yields money. */
export type PriceExpression = RuleExpression<PriceCode>;

interface PriceCode {
  /** @throws ExpressionError, EventStepsError */
  readonly evaluate: (env: ExpressionEnv) => Decimal;
  /** The result where it is the same for every event, already rounded to what is recorded. */
  readonly constant: RecordedDecimal | undefined;
}

/** A decimal as it is recorded: at most 18 fraction digits, and the same as an integer × 10^18. */
export interface RecordedDecimal {
  readonly value: Decimal;
  readonly stored: bigint;
}

/** Rounds half-even to what is recorded; undefined for what does not fit. */
export function recorded(value: Decimal): RecordedDecimal | undefined {
  const stored = toStored(value);
  return stored === undefined
    ? undefined
    : { value: value.scale > FRACTION_DIGITS_MAX ? fromStored(stored) : value, stored };
}

/** Currency of pricing that names none. */
export const CURRENCY_DEFAULT = 'USD';

/** The pricing part of a configuration. */
export interface ItemPricingConfig {
  readonly currency?: string | undefined;
  readonly unit_price_expr?: string | undefined;
  readonly amount_expr?: string | undefined;
}

/** Undefined when the configuration has neither expression. */
export function compileItemPricing(
  config: ItemPricingConfig,
  path: string,
  issues: Issues,
): ItemPricing | undefined {
  const { unit_price_expr: unitPriceSource, amount_expr: amountSource } = config;
  if (unitPriceSource === undefined && amountSource === undefined) return undefined;
  const hasUnitPrice = unitPriceSource !== undefined;
  return {
    currency: config.currency ?? CURRENCY_DEFAULT,
    unitPrice: issues.expression(unitPriceSource, `${path}.unit_price_expr`, (source) =>
      compilePrice(source, { kind: 'unit_price' }),
    ),
    amount: issues.expression(amountSource, `${path}.amount_expr`, (source) =>
      compilePrice(source, { kind: 'amount', hasUnitPrice }),
    ),
    path,
  };
}

function compilePrice(
  source: string,
  options: { kind: Exclude<ExpressionKind, 'match'>; hasUnitPrice?: boolean },
): CompileResult<PriceCode> {
  const compiled = compileExpression(source, options);
  if (!compiled.ok) return { ok: false, message: compiled.issue.message };
  const { evaluate } = compiled;
  if (compiled.constant === undefined) return { ok: true, code: { evaluate, constant: undefined } };
  const constant = recorded(compiled.constant);
  return constant === undefined
    ? { ok: false, message: `the price does not fit ${INTEGER_DIGITS_MAX} integer digits` }
    : { ok: true, code: { evaluate, constant } };
}
