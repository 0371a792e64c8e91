import { type Decimal, sign, toStored, toText } from '../../kernel/decimal.js';
import { decimalFromJson } from '../../kernel/json/json.js';
import { Discounts } from './discount.js';
import { type DimensionValue, EventSteps, type SubjectValue } from './expression/index.js';
import { type CompiledExtractor, RatingFailure, type RatingNote } from './extract/index.js';
import { type ItemEnv, type ItemRules, outOfRange, type Price, priceOf } from './price.js';
import type { PriceList } from './pricing/index.js';
import { type BilledItem, hintFor, type RatingInput } from './rating-input.js';

/** The rules that are active at one time. */
export interface RatingRules {
  readonly extractor: CompiledExtractor;
  /** Prices of the pricing rule sets that are bound to the extractor rule set. */
  readonly prices: PriceList;
}

/** Money and quantities are integers: their value × 10^18. The amount is charged, after the discount. */
export interface ChargeItem extends Price {
  /** Name of the extractor that read the quantity; empty for `x_billing`. */
  readonly extractorName: string;
  readonly metric: string;
  readonly unit: string;
  readonly quantity: bigint;
  /** The part of the amount that a discount hint subtracted; not negative. */
  readonly discount: bigint;
  readonly source: 'extractor' | 'x_billing';
}

interface Resolved {
  readonly subject?: SubjectValue | undefined;
  readonly dimensions: ReadonlyMap<string, DimensionValue>;
}

export type RatedEvent =
  | (Resolved & {
      readonly ok: true;
      readonly items: readonly ChargeItem[];
      /** Notes about values that the rules did not expect, without a failure. */
      readonly notes: readonly RatingNote[];
    })
  /** With the values that were resolved before the failure. */
  | (Resolved & { readonly ok: false; readonly failure: RatingFailure });

const NO_BILLED_ITEMS: readonly BilledItem[] = [];
const NO_NOTES: readonly RatingNote[] = [];

/**
 * Rates one event by the rules of its time: subject, dimensions, and for each charge item its quantity and price. A
 * pure function of its arguments: the same in production, on replay and in a test of the rules.
 */
export function rateEvent(rules: RatingRules, input: RatingInput): RatedEvent {
  const { extractor } = rules;
  const { rawJson } = input;
  const dimensions = new Map<string, DimensionValue>();
  const subject = input.subject ?? extractor.readSubject(rawJson);
  if (subject instanceof RatingFailure) return { ok: false, failure: subject, dimensions };
  const resolved: Resolved = { subject, dimensions };
  for (const { name, read } of extractor.dimensions) {
    const value = read(rawJson);
    if (value instanceof RatingFailure) return { ok: false, failure: value, ...resolved };
    if (value !== undefined) dimensions.set(name, value);
  }
  const rating: Rating = { rules, input, resolved, discounts: discountsOf(input), steps: new EventSteps() };
  const items: ChargeItem[] = [];
  let notes: RatingNote[] | undefined;
  const note = (found: RatingNote) => {
    notes ??= [];
    notes.push(found);
  };
  const billedItems = input.billing?.items ?? NO_BILLED_ITEMS;
  const isBilled = billedItems.length > 0;
  for (const chargeItem of extractor.chargeItems) {
    if (isBilled && billedItems.some(({ metric }) => metric === chargeItem.metric)) continue;
    const quantity = chargeItem.readQuantity(rawJson, note);
    if (quantity === undefined) continue;
    const item =
      quantity instanceof RatingFailure ? quantity : rateItem(rating, chargeItem, quantity, 'extractor');
    if (item instanceof RatingFailure) return { ok: false, failure: item, ...resolved };
    items.push(item);
  }
  for (let index = 0; index < billedItems.length; index += 1) {
    const item = rateBilledItem(rating, billedItems[index] as BilledItem, `x-billing.items[${index}]`);
    if (item instanceof RatingFailure) return { ok: false, failure: item, ...resolved };
    items.push(item);
  }
  return { ok: true, items, notes: notes ?? NO_NOTES, subject, dimensions };
}

/** Values that the charge items of one event share. */
interface Rating {
  readonly rules: RatingRules;
  readonly input: RatingInput;
  readonly resolved: Resolved;
  readonly discounts: Discounts | undefined;
  readonly steps: EventSteps;
}

function discountsOf({ billing }: RatingInput): Discounts | undefined {
  return billing?.discount_hints === undefined ? undefined : new Discounts(billing.discount_hints);
}

/**
 * Prices a client's own item as an item of the extractor with its metric would be; with several extractors, of the
 * first one.
 */
function rateBilledItem(rating: Rating, billed: BilledItem, path: string): ChargeItem | RatingFailure {
  const { metric } = billed;
  const quantityPath = `${path}.quantity`;
  const quantity = decimalFromJson(billed.quantity);
  if (quantity === undefined || toStored(quantity) === undefined) {
    return outOfRange('The quantity', quantityPath);
  }
  if (sign(quantity) < 0) {
    return new RatingFailure('quantity_negative', 'The quantity is negative.', quantityPath);
  }
  const extractor = rating.rules.extractor.chargeItems.find((chargeItem) => chargeItem.metric === metric);
  const rules: ItemRules = {
    name: extractor?.name ?? '',
    metric,
    unit: billed.unit ?? extractor?.unit ?? '',
    currency: extractor?.currency,
    pricing: extractor?.pricing,
    path,
    quantityPath,
  };
  return rateItem(rating, rules, quantity, 'x_billing');
}

function rateItem(
  { rules, input, resolved, discounts, steps }: Rating,
  item: ItemRules,
  quantity: Decimal,
  source: ChargeItem['source'],
): ChargeItem | RatingFailure {
  const { name, metric, unit } = item;
  const storedQuantity = toStored(quantity);
  if (storedQuantity === undefined) return outOfRange('The quantity', item.quantityPath);
  const { subject, dimensions } = resolved;
  const { occurredAt, billing } = input;
  const env: ItemEnv = {
    quantity,
    unitPrice: undefined,
    metric,
    unit,
    dimensions,
    subject,
    occurredAt,
    steps,
  };
  const hint = hintFor(billing?.pricing_hints, metric);
  const price = priceOf(item, hint, rules.extractor.origin, rules.prices, env);
  if (price instanceof RatingFailure) return price;
  if (rules.extractor.failsUnpriced && price.pricingSource === 'unpriced') {
    return new RatingFailure('unpriced', `No price rule matched the metric ${metric}.`, item.path);
  }
  const discount = discounts === undefined ? 0n : discounts.take(metric, price);
  if (discount instanceof RatingFailure) return discount;
  return {
    extractorName: source === 'extractor' ? name : '',
    metric,
    unit,
    quantity: storedQuantity,
    unitPrice: price.unitPrice,
    amount: price.amount - discount,
    discount,
    currency: price.currency,
    source,
    pricingSource: price.pricingSource,
    ruleSetId: price.ruleSetId,
    ruleSetVersion: price.ruleSetVersion,
    ruleName: price.ruleName,
  };
}

/** Returns dimensions as they are recorded and shown: numbers as plain decimals, booleans as `true` and `false`. */
export function dimensionTexts(dimensions: ReadonlyMap<string, DimensionValue>): ReadonlyMap<string, string> {
  for (const value of dimensions.values()) {
    if (typeof value !== 'string') {
      return new Map(Array.from(dimensions, ([name, dimension]) => [name, dimensionText(dimension)]));
    }
  }
  return dimensions as ReadonlyMap<string, string>;
}

function dimensionText(value: DimensionValue): string {
  return typeof value === 'object' ? toText(value) : String(value);
}
