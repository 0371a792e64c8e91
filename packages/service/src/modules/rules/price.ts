import {
  type Decimal,
  DecimalRangeError,
  fromStored,
  INTEGER_DIGITS_MAX,
  mul,
} from '../../kernel/decimal.js';
import { decimalFromJson } from '../../kernel/json/json.js';
import { type EventSteps, EventStepsError, type ExpressionEnv, ExpressionError } from './expression/index.js';
import {
  type CompiledChargeItem,
  CURRENCY_DEFAULT,
  type ItemPricing,
  type PriceExpression,
  perPricingUnit,
  RatingFailure,
  type RecordedDecimal,
  type RuleOrigin,
  recorded,
  stepsRanOut,
  type TotalPricing,
} from './extract/index.js';
import { namingRuleSet, type PriceList } from './pricing/index.js';
import type { SentPricingHint } from './rating-input.js';

/** The price of a charge item and the rule that sets it. Money is an integer: its value × 10^18. */
export interface Price {
  /** The price of one unit; null when there is only an amount, or no price. */
  readonly unitPrice: bigint | null;
  readonly amount: bigint;
  /** Empty when no rule priced the item. */
  readonly currency: string;
  readonly pricingSource: 'hint' | 'extractor' | 'pricing_rule_set' | 'unpriced';
  /** The rule set and version that priced the item; empty and 0 where none did. */
  readonly ruleSetId: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

/** A price that depends on the total of a counter, and the rule that sets it. */
export interface PendingPrice extends Omit<Price, 'amount'> {
  readonly total: TotalPricing;
}

/** The totals of a counter around a charge item. Decimals × 10^18. */
export interface CounterTotals {
  /** Start of the period, in Unix seconds. */
  readonly periodStart: number;
  /** Undefined for the first charge item of the period. */
  readonly before: bigint | undefined;
  readonly after: bigint;
  /** The price of `before`, if it is remembered. The price of `after` takes its place. */
  readonly last?: LastPrice | undefined;
}

/**
 * The last price of a total of one counter. The next charge item needs it again, as the price of the total before it.
 * Only a counter without dimensions has one: its price depends on nothing but the total.
 */
export class LastPrice {
  #expression: PriceExpression | undefined;
  #total = 0n;
  #price = 0n;
  #steps = 0;

  /**
   * Returns the price of a total by an expression; undefined unless it is the last one. It takes as many steps of the
   * event as computing it would: so an event fails or not, whatever was rated before it.
   */
  of(expression: PriceExpression, total: bigint, steps: EventSteps): bigint | RatingFailure | undefined {
    if (this.#expression !== expression || this.#total !== total) return undefined;
    return steps.take(this.#steps) ? this.#price : stepsRanOut(expression.path);
  }

  /** @param steps that computing the price has taken */
  keep(expression: PriceExpression, total: bigint, price: bigint, steps: number): void {
    this.#expression = expression;
    this.#total = total;
    this.#price = price;
    this.#steps = steps;
  }
}

/** The rules of a charge item, without its quantity. */
export type ItemRules = Pick<
  CompiledChargeItem,
  'name' | 'metric' | 'unit' | 'currency' | 'pricing' | 'path' | 'quantityPath'
>;

/** The variables of an item's expressions, with the unit price once it is known. */
export type ItemEnv = { -readonly [Field in keyof ExpressionEnv]: ExpressionEnv[Field] };

const NO_RULE = { ruleSetId: '', ruleSetVersion: 0, ruleName: '' } as const;
export const UNPRICED: Price = {
  unitPrice: null,
  amount: 0n,
  currency: '',
  pricingSource: 'unpriced',
  ...NO_RULE,
};

/**
 * Returns the price of a charge item from the first source that has one: the client's hint, the charge item extractor,
 * the pricing rule sets. A price by a total is returned without its amount.
 * @param origin of the extractor
 */
export function priceOf(
  item: ItemRules,
  hint: SentPricingHint | undefined,
  origin: RuleOrigin,
  prices: PriceList,
  env: ItemEnv,
): Price | PendingPrice | RatingFailure {
  if (hint !== undefined) return hintedPrice(hint, item, env);
  if (item.pricing !== undefined) return ruledPrice(item.pricing, 'extractor', origin, item.name, env);
  return listedPrice(prices, env) ?? UNPRICED;
}

/** Returns the price by the first matching rule of a list; undefined when none matches. */
export function listedPrice(
  prices: PriceList,
  env: ItemEnv,
): Price | PendingPrice | RatingFailure | undefined {
  const found = prices.ruleFor(env);
  if (found === undefined || found instanceof RatingFailure) return found;
  const { rule } = found;
  env.dimensions = found.dimensions;
  const price = ruledPrice(rule.pricing, 'pricing_rule_set', rule.origin, rule.name, env);
  return price instanceof RatingFailure ? namingRuleSet(rule.origin, price) : price;
}

/** Returns quantity × unit price ÷ pricing unit, rounded once; the price of one unit is rounded separately. */
function hintedPrice(hint: SentPricingHint, item: ItemRules, { quantity }: ItemEnv): Price | RatingFailure {
  const price = decimalFromJson(hint.unit_price);
  const units = hint.pricing_unit === undefined ? undefined : decimalFromJson(hint.pricing_unit);
  if (price === undefined || (units === undefined && hint.pricing_unit !== undefined)) {
    throw new Error('the pricing hint was accepted, although it is not a decimal');
  }
  const perUnit = (value: Decimal) => perPricingUnit(value, units)?.stored;
  const computed = priceInRange(() => {
    const unitPrice = perUnit(price);
    const amount = perUnit(mul(quantity, price));
    return unitPrice === undefined || amount === undefined ? undefined : { unitPrice, amount };
  });
  if (computed === undefined) return outOfRange('The price', `x-billing.pricing_hints.${item.metric}`);
  const currency = hint.currency ?? item.currency ?? CURRENCY_DEFAULT;
  return { ...computed, currency, pricingSource: 'hint', ...NO_RULE };
}

/** Returns unit price and amount by the expressions of a rule. */
function ruledPrice(
  pricing: ItemPricing,
  pricingSource: 'extractor' | 'pricing_rule_set',
  { ruleSetId, version }: RuleOrigin,
  name: string,
  env: ItemEnv,
): Price | PendingPrice | RatingFailure {
  const { currency, total } = pricing;
  const rule = { currency, pricingSource, ruleSetId, ruleSetVersion: version, ruleName: name };
  if (total !== undefined) return { unitPrice: null, ...rule, total };
  let unitPrice: bigint | null = null;
  let price: Decimal | undefined;
  if (pricing.unitPrice !== undefined) {
    const found = evaluate(pricing.unitPrice, env);
    if (found instanceof RatingFailure) return found;
    price = found.value;
    const ofOne = priceInRange(() => perPricingUnit(found.value, pricing.pricingUnit));
    if (ofOne === undefined) return outOfRange('The price', pricing.unitPrice.path);
    unitPrice = ofOne.stored;
    env.unitPrice = ofOne.value;
  }
  const amount =
    pricing.amount === undefined ? defaultAmount(pricing, env, price) : evaluate(pricing.amount, env);
  if (amount instanceof RatingFailure) return amount;
  return {
    unitPrice,
    amount: typeof amount === 'bigint' ? amount : amount.stored,
    ...rule,
  };
}

/**
 * Returns the amount of a charge item that moves a counter from one total to the next: the price of the total after it,
 * less the price of the total before it, each rounded once.
 *
 * @param env of the charge item; its quantity is replaced
 */
export function priceBetween(
  { total, ruleSetId, ruleSetVersion: version, pricingSource }: PendingPrice,
  totals: CounterTotals,
  env: ItemEnv,
): bigint | RatingFailure {
  const { last } = totals;
  const { price } = total;
  const found = amountBetween(totals, (quantity) => {
    const known = last?.of(price, quantity, env.steps);
    if (known !== undefined) return known;
    const { left } = env.steps;
    env.quantity = fromStored(quantity);
    const computed = evaluate(price, env);
    if (computed instanceof RatingFailure) return computed;
    last?.keep(price, quantity, computed.stored, left - env.steps.left);
    return computed.stored;
  });
  if (!(found instanceof RatingFailure) || pricingSource === 'extractor') return found;
  return namingRuleSet({ ruleSetId, version }, found);
}

/** Returns the price of one total less the price of the other; nothing was charged before the first charge item. */
export function amountBetween(
  { before, after }: CounterTotals,
  priceAt: (total: bigint) => bigint | RatingFailure,
): bigint | RatingFailure {
  const former = before === undefined ? 0n : priceAt(before);
  if (former instanceof RatingFailure) return former;
  const next = priceAt(after);
  return next instanceof RatingFailure ? next : next - former;
}

/**
 * Returns the price of a total × 10^18, rounded once.
 *
 * @param env its quantity is the total
 */
export function priceOfTotal(
  { price }: TotalPricing,
  { pricingSource, ...origin }: RuleOrigin & Pick<Price, 'pricingSource'>,
  env: ExpressionEnv,
): bigint | RatingFailure {
  const found = evaluate(price, env);
  if (!(found instanceof RatingFailure)) return found.stored;
  return pricingSource === 'extractor' ? found : namingRuleSet(origin, found);
}

/**
 * Returns quantity × price ÷ pricing unit, rounded once; with a pricing unit of 1 it equals `dec_mul(item.quantity,
 * item.unit_price)`.
 */
function defaultAmount(
  { path, pricingUnit }: ItemPricing,
  { quantity }: ItemEnv,
  price: Decimal | undefined,
): bigint | RatingFailure {
  if (price === undefined) throw new Error('pricing without an amount has a unit price');
  const amount = priceInRange(() => perPricingUnit(mul(quantity, price), pricingUnit));
  return amount?.stored ?? outOfRange('The amount', path);
}

function evaluate(expression: PriceExpression, env: ExpressionEnv): RecordedDecimal | RatingFailure {
  const { code } = expression;
  if (code.constant !== undefined) return code.constant;
  try {
    return recorded(code.evaluate(env)) ?? outOfRange('The price', expression.path);
  } catch (error) {
    if (error instanceof EventStepsError) return stepsRanOut(expression.path);
    if (!(error instanceof ExpressionError)) throw error;
    const code = error.code === 'decimal_out_of_range' ? error.code : 'pricing_failed';
    return new RatingFailure(code, error.message, expression.path);
  }
}

/** Returns undefined for a result, or an intermediate one, that does not fit. */
export function priceInRange<T>(compute: () => T | undefined): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof DecimalRangeError) return undefined;
    throw error;
  }
}

export function outOfRange(what: string, path: string): RatingFailure {
  return new RatingFailure(
    'decimal_out_of_range',
    `${what} does not fit ${INTEGER_DIGITS_MAX} integer digits.`,
    path,
  );
}
