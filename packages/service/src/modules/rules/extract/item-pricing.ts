import {
  type Decimal,
  decimalFromBigInt,
  divide,
  equals,
  FRACTION_DIGITS_MAX,
  fromStored,
  INTEGER_DIGITS_MAX,
  parseDecimal,
  toStored,
} from '../../../kernel/decimal.js';
import { compileExpression, type ExpressionEnv, type ExpressionKind } from '../expression/index.js';
import type { Issues } from './issues.js';
import type { CompileResult, RuleExpression } from './rule-expression.js';

/** How the price of a charge item is computed: by its extractor, or by a rule of a pricing rule set. */
export interface ItemPricing {
  readonly currency: string;
  readonly unitPrice: PriceExpression | undefined;
  /** The number of units that `unitPrice` is for; undefined for one. */
  readonly pricingUnit: Decimal | undefined;
  /** Undefined: quantity × unit price ÷ pricing unit. At least one of the two expressions exists. */
  readonly amount: PriceExpression | undefined;
  /** The entry in the rule set, e.g. `charge_item_extractors[0]` or `rules[3]`. */
  readonly path: string;
}

/** An expression that yields money. */
export type PriceExpression = RuleExpression<PriceCode>;

interface PriceCode {
  /** @throws ExpressionError, EventStepsError */
  readonly evaluate: (env: ExpressionEnv) => Decimal;
  /** The result if it is the same for every event, already rounded for storage. */
  readonly constant: RecordedDecimal | undefined;
}

/** A decimal as it is recorded: at most 18 fraction digits, and the same as an integer × 10^18. */
export interface RecordedDecimal {
  readonly value: Decimal;
  readonly stored: bigint;
}

/** Rounds half-even for storage; returns undefined for a value that does not fit. */
export function recorded(value: Decimal): RecordedDecimal | undefined {
  const stored = toStored(value);
  return stored === undefined
    ? undefined
    : { value: value.scale > FRACTION_DIGITS_MAX ? fromStored(stored) : value, stored };
}

const ONE = decimalFromBigInt(1n);

/** Currency of pricing that has none of its own. */
export const CURRENCY_DEFAULT = 'USD';

/** The pricing part of a configuration. */
export interface ItemPricingConfig {
  readonly currency?: string | undefined;
  readonly unit_price_expr?: string | undefined;
  readonly pricing_unit?: string | number | undefined;
  readonly amount_expr?: string | undefined;
}

/** Undefined when the configuration has neither expression. */
export function compileItemPricing(
  config: ItemPricingConfig,
  path: string,
  issues: Issues,
): ItemPricing | undefined {
  const { unit_price_expr: unitPriceSource, amount_expr: amountSource } = config;
  const pricingUnit = compilePricingUnit(config, `${path}.pricing_unit`, issues);
  if (unitPriceSource === undefined && amountSource === undefined) return undefined;
  const hasUnitPrice = unitPriceSource !== undefined;
  return {
    currency: config.currency ?? CURRENCY_DEFAULT,
    unitPrice: issues.expression(unitPriceSource, `${path}.unit_price_expr`, (source) =>
      compilePrice(source, { kind: 'unit_price' }),
    ),
    pricingUnit,
    amount: issues.expression(amountSource, `${path}.amount_expr`, (source) =>
      compilePrice(source, { kind: 'amount', hasUnitPrice }),
    ),
    path,
  };
}

/** Returns undefined without a pricing unit, and for 1, which changes nothing. */
function compilePricingUnit(
  { pricing_unit: sent, unit_price_expr: unitPrice }: ItemPricingConfig,
  path: string,
  issues: Issues,
): Decimal | undefined {
  if (sent === undefined) return undefined;
  if (unitPrice === undefined) issues.add(path, 'needs unit_price_expr, the price that it applies to');
  const unit = parseDecimal(String(sent));
  const stored = unit === undefined ? undefined : toStored(unit);
  if (unit === undefined || stored === undefined || stored <= 0n || unit.scale > FRACTION_DIGITS_MAX) {
    issues.add(
      path,
      `expected a decimal above 0, of at most ${INTEGER_DIGITS_MAX} integer and ${FRACTION_DIGITS_MAX} fraction digits`,
    );
    return undefined;
  }
  return equals(unit, ONE) ? undefined : unit;
}

/** Returns value ÷ pricing unit, rounded once for storage; undefined for a value that does not fit. */
export function perPricingUnit(
  value: Decimal,
  pricingUnit: Decimal | undefined,
): RecordedDecimal | undefined {
  return recorded(pricingUnit === undefined ? value : divide(value, pricingUnit, FRACTION_DIGITS_MAX));
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
