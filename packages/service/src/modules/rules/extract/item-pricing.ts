import type { Cumulative } from '@tollgate/contract';
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
import {
  compileExpression,
  type ExpressionEnv,
  type ExpressionKind,
  type ExpressionOptions,
} from '../expression/index.js';
import { CURRENCY_DEFAULT } from './checks.js';
import { type CounterDefinition, compileCounter } from './counter.js';
import type { Issues } from './issues.js';
import type { CompileResult, RuleExpression } from './rule-expression.js';

/** How the price of a charge item is computed: by its extractor, or by a rule of a pricing rule set. */
export interface ItemPricing {
  readonly currency: string;
  readonly unitPrice: PriceExpression | undefined;
  /** The number of units that `unitPrice` is for; undefined for one. */
  readonly pricingUnit: Decimal | undefined;
  /** Undefined: quantity × unit price ÷ pricing unit. At least one of the two expressions exists, or `total`. */
  readonly amount: PriceExpression | undefined;
  /** The price of a total over a period; then there are no other expressions. */
  readonly total: TotalPricing | undefined;
  /** The entry in the rule set, e.g. `charge_item_extractors[0]` or `rules[3]`. */
  readonly path: string;
}

/** A charge item costs what it adds to the price of a counter's total. */
export interface TotalPricing {
  readonly counter: CounterDefinition;
  /** The price of a total: `quantity` of the environment. */
  readonly price: PriceExpression;
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

/** The pricing part of a configuration. */
export interface ItemPricingConfig {
  readonly currency?: string | undefined;
  readonly unit_price_expr?: string | undefined;
  readonly pricing_unit?: string | number | undefined;
  readonly amount_expr?: string | undefined;
  readonly cumulative?: Cumulative | undefined;
  readonly total_expr?: string | undefined;
}

/** Undefined when the configuration has no expression. */
export function compileItemPricing(
  config: ItemPricingConfig,
  path: string,
  issues: Issues,
): ItemPricing | undefined {
  const { unit_price_expr: unitPriceSource, amount_expr: amountSource } = config;
  if (config.cumulative !== undefined || config.total_expr !== undefined) {
    return compileTotalPricing(config, path, issues);
  }
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
    total: undefined,
    path,
  };
}

/** Fields that set the price of a charge item by itself. */
const FIELDS_OF_ONE_ITEM = ['unit_price_expr', 'pricing_unit', 'amount_expr'] as const;

function compileTotalPricing(
  config: ItemPricingConfig,
  path: string,
  issues: Issues,
): ItemPricing | undefined {
  const { cumulative, total_expr: source, currency = CURRENCY_DEFAULT } = config;
  for (const field of FIELDS_OF_ONE_ITEM) {
    if (config[field] !== undefined)
      issues.add(`${path}.${field}`, 'expected no such field beside total_expr');
  }
  if (cumulative === undefined) issues.add(`${path}.cumulative`, 'expected the counter of total_expr');
  if (source === undefined) issues.add(`${path}.total_expr`, 'expected the price of the total of cumulative');
  if (cumulative === undefined || source === undefined) return undefined;
  const counter = compileCounter(cumulative, currency, `${path}.cumulative`, issues);
  const price = issues.expression(source, `${path}.total_expr`, (text) =>
    compilePrice(text, { kind: 'total', dimensions: cumulative.by ?? [] }),
  );
  if (counter === undefined || price === undefined) return undefined;
  return {
    currency,
    unitPrice: undefined,
    pricingUnit: undefined,
    amount: undefined,
    total: { counter, price },
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
  options: ExpressionOptions<Exclude<ExpressionKind, 'match'>>,
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
