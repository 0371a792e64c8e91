import {
  type Decimal,
  DecimalRangeError,
  INTEGER_DIGITS_MAX,
  mul,
  sign,
  toStored,
} from '../../kernel/decimal.js';
import { decimalFromJson, type NumericText } from '../../kernel/json.js';
import {
  type DimensionValue,
  type ExpressionEnv,
  ExpressionError,
  type Subject,
} from './expression/index.js';
import {
  type CompiledChargeItem,
  type CompiledExtractor,
  type PriceExpression,
  RatingFailure,
  type RecordedDecimal,
  type RuleOrigin,
  recorded,
} from './extract/index.js';

/** A charge item that the client made itself: an entry of `x-billing.items`. */
export interface BilledItem {
  readonly metric: string;
  /** As sent; a number that no double holds is a NumericText. */
  readonly quantity: number | string | NumericText;
  /** Without one, the unit of the extractor of the same metric. */
  readonly unit?: string | undefined;
}

export interface RatingInput {
  /** The event's `raw_json`, parsed; numbers that no double holds are NumericText. */
  readonly rawJson: unknown;
  /** Unix seconds. */
  readonly occurredAt: number;
  /** The pair sent with the event, which then is its subject: the extractor's paths are not read. */
  readonly subject?: Subject;
  /** For its metric, such an item replaces what the extractors would find. */
  readonly billedItems?: readonly BilledItem[];
}

/** Money and quantities are integers: their value × 10^18. */
export interface ChargeItem {
  /** Of the extractor that read the quantity; empty for `x_billing`. */
  readonly extractorName: string;
  readonly metric: string;
  readonly unit: string;
  readonly quantity: bigint;
  /** The price of one unit; null when the item has only an amount, or no price. */
  readonly unitPrice: bigint | null;
  readonly amount: bigint;
  /** Empty when nothing priced the item. */
  readonly currency: string;
  readonly source: 'extractor' | 'x_billing';
  readonly pricingSource: 'hint' | 'extractor' | 'pricing_rule_set' | 'unpriced';
  /** The rules that priced the item, and which of them; empty, and version 0, where none did. */
  readonly ruleSetId: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

interface Resolved {
  readonly subject?: Subject;
  readonly dimensions: ReadonlyMap<string, DimensionValue>;
}

export type RatedEvent =
  | (Resolved & { readonly ok: true; readonly items: readonly ChargeItem[] })
  /** With what was resolved before the failure. */
  | (Resolved & { readonly ok: false; readonly failure: RatingFailure });

/** What a charge item costs, and who says so. */
type Price = Pick<
  ChargeItem,
  'unitPrice' | 'amount' | 'currency' | 'pricingSource' | 'ruleSetId' | 'ruleSetVersion' | 'ruleName'
>;

/** What an item is, beside its quantity. */
type ItemRules = Pick<CompiledChargeItem, 'name' | 'metric' | 'unit' | 'pricing' | 'path'>;

type ItemEnv = { -readonly [Field in keyof ExpressionEnv]: ExpressionEnv[Field] };

const NO_BILLED_ITEMS: readonly BilledItem[] = [];

const UNPRICED: Price = {
  unitPrice: null,
  amount: 0n,
  currency: '',
  pricingSource: 'unpriced',
  ruleSetId: '',
  ruleSetVersion: 0,
  ruleName: '',
};

/**
 * Rates one event by one version of a rule set: subject, dimensions, and for each charge item its quantity and price.
 * A pure function of its arguments: the same in production, on replay and in a test of the rules.
 */
export function rateEvent(extractor: CompiledExtractor, input: RatingInput): RatedEvent {
  const { rawJson } = input;
  const dimensions = new Map<string, DimensionValue>();
  const subject = input.subject ?? extractor.readSubject(rawJson);
  if (subject instanceof RatingFailure) return { ok: false, failure: subject, dimensions };
  const resolved: Resolved = subject === undefined ? { dimensions } : { subject, dimensions };
  for (const { name, read } of extractor.dimensions) {
    const value = read(rawJson);
    if (value instanceof RatingFailure) return { ok: false, failure: value, ...resolved };
    if (value !== undefined) dimensions.set(name, value);
  }
  const items: ChargeItem[] = [];
  const { billedItems = NO_BILLED_ITEMS } = input;
  for (const chargeItem of extractor.chargeItems) {
    if (billedItems.some(({ metric }) => metric === chargeItem.metric)) continue;
    const quantity = chargeItem.readQuantity(rawJson);
    if (quantity === undefined) continue;
    const item =
      quantity instanceof RatingFailure
        ? quantity
        : rateItem(extractor.origin, chargeItem, quantity, resolved, input.occurredAt);
    if (item instanceof RatingFailure) return { ok: false, failure: item, ...resolved };
    items.push(item);
  }
  for (const [index, billed] of billedItems.entries()) {
    const item = rateBilledItem(extractor, billed, `x-billing.items[${index}]`, resolved, input.occurredAt);
    if (item instanceof RatingFailure) return { ok: false, failure: item, ...resolved };
    items.push(item);
  }
  return { ok: true, items, ...resolved };
}

/** Prices a client's own item as the extractor of its metric would; of several, as the first. */
function rateBilledItem(
  { origin, chargeItems }: CompiledExtractor,
  billed: BilledItem,
  path: string,
  resolved: Resolved,
  occurredAt: number,
): ChargeItem | RatingFailure {
  const { metric } = billed;
  const quantity = decimalFromJson(billed.quantity);
  if (quantity === undefined || toStored(quantity) === undefined) {
    return outOfRange('The quantity', `${path}.quantity`);
  }
  if (sign(quantity) < 0) {
    return new RatingFailure('quantity_negative', 'The quantity is negative.', `${path}.quantity`);
  }
  const extractor = chargeItems.find((chargeItem) => chargeItem.metric === metric);
  const rules: ItemRules = {
    name: extractor?.name ?? '',
    metric,
    unit: billed.unit ?? extractor?.unit ?? '',
    pricing: extractor?.pricing,
    path: extractor?.path ?? path,
  };
  const item = rateItem(origin, rules, quantity, resolved, occurredAt);
  return item instanceof RatingFailure ? item : { ...item, source: 'x_billing', extractorName: '' };
}

function rateItem(
  origin: RuleOrigin,
  chargeItem: ItemRules,
  quantity: Decimal,
  { subject, dimensions }: Resolved,
  occurredAt: number,
): ChargeItem | RatingFailure {
  const { name, metric, unit } = chargeItem;
  const storedQuantity = toStored(quantity);
  if (storedQuantity === undefined) return outOfRange('The quantity', `${chargeItem.path}.path`);
  const env: ItemEnv = { quantity, unitPrice: undefined, metric, unit, dimensions, subject, occurredAt };
  const price = attachedPrice(origin, chargeItem, env) ?? UNPRICED;
  if (price instanceof RatingFailure) return price;
  return {
    extractorName: name,
    metric,
    unit,
    quantity: storedQuantity,
    unitPrice: price.unitPrice,
    amount: price.amount,
    currency: price.currency,
    source: 'extractor',
    pricingSource: price.pricingSource,
    ruleSetId: price.ruleSetId,
    ruleSetVersion: price.ruleSetVersion,
    ruleName: price.ruleName,
  };
}

/** The price by the charge item's own expressions; undefined when it has none. */
function attachedPrice(
  { ruleSetId, version }: RuleOrigin,
  { name, pricing, path }: ItemRules,
  env: ItemEnv,
): Price | undefined | RatingFailure {
  if (pricing === undefined) return undefined;
  let unitPrice: bigint | null = null;
  if (pricing.unitPrice !== undefined) {
    const found = evaluate(pricing.unitPrice, env);
    if (found instanceof RatingFailure) return found;
    unitPrice = found.stored;
    env.unitPrice = found.value;
  }
  const amount = pricing.amount === undefined ? defaultAmount(env, path) : evaluate(pricing.amount, env);
  if (amount instanceof RatingFailure) return amount;
  return {
    unitPrice,
    amount: amount.stored,
    currency: pricing.currency,
    pricingSource: 'extractor',
    ruleSetId,
    ruleSetVersion: version,
    ruleName: name,
  };
}

/** What `dec_mul(item.quantity, item.unit_price)` would be, without the detour. */
function defaultAmount({ quantity, unitPrice }: ItemEnv, path: string): RecordedDecimal | RatingFailure {
  if (unitPrice === undefined) throw new Error('pricing without an amount has a unit price');
  try {
    return recorded(mul(quantity, unitPrice)) ?? outOfRange('The amount', path);
  } catch (error) {
    if (error instanceof DecimalRangeError) return outOfRange('The amount', path);
    throw error;
  }
}

function evaluate(expression: PriceExpression, env: ExpressionEnv): RecordedDecimal | RatingFailure {
  if (expression.constant !== undefined) return expression.constant;
  try {
    return recorded(expression.evaluate(env)) ?? outOfRange('The price', expression.path);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const code = error.code === 'decimal_out_of_range' ? error.code : 'pricing_failed';
    return new RatingFailure(code, error.message, expression.path);
  }
}

function outOfRange(what: string, path: string): RatingFailure {
  return new RatingFailure(
    'decimal_out_of_range',
    `${what} does not fit ${INTEGER_DIGITS_MAX} integer digits.`,
    path,
  );
}
