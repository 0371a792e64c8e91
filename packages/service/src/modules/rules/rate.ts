import { type Decimal, sign, toStored, toText } from '../../kernel/decimal.js';
import { decimalFromJson } from '../../kernel/json/json.js';
import { withCosts } from './cost.js';
import { Discounts } from './discount.js';
import { type DimensionValue, EventSteps, type SubjectValue } from './expression/index.js';
import {
  type CompiledExtractor,
  type CounterDefinition,
  RatingFailure,
  type RatingNote,
} from './extract/index.js';
import { type CounterTotals, type ItemEnv, type ItemRules, outOfRange, priceOf } from './price.js';
import type { PriceLists } from './pricing/index.js';
import {
  type ChargeItem,
  type CountedItem,
  chargeItem,
  completed,
  countedItem,
  draftItem,
  type PendingItem,
  pricedItem,
  unpricedFailure,
} from './rated-item.js';
import { type BilledItem, type Billing, hintFor, type RatingInput } from './rating-input.js';

/** The rules that are active at one time. */
export interface RatingRules extends PriceLists {
  readonly extractor: CompiledExtractor;
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
const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/**
 * An event that has charge items with a price by the total of a counter. Rating ends when the totals are known.
 */
export interface CountingEvent extends Resolved {
  readonly ok: undefined;
  readonly counted: readonly CountedItem[];
  /**
   * Ends the rating. Call this once.
   *
   * @param totals of each counted item, in their order; undefined for an item that has no counter, because the event
   * has no account: it stays without a price
   */
  price(totals: readonly (CounterTotals | undefined)[]): RatedEvent;
  /**
   * Returns the event before its totals are known: the amounts of counted items are 0, and no item has its discount.
   *
   * @param hasCounter whether each counted item has a counter
   */
  draft(hasCounter: readonly boolean[]): RatedEvent;
}

/**
 * Rates one event by the rules of its time: subject, dimensions, and for each charge item its quantity and price. A
 * pure function of its arguments: the same in production, on replay and in a test of the rules.
 */
export function rateEvent(rules: RatingRules, input: RatingInput): RatedEvent | CountingEvent {
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
  const rating: Rating = { rules, input, resolved, steps: new EventSteps() };
  const items: (ChargeItem | PendingItem)[] = [];
  let notes: RatingNote[] | undefined;
  const note = (found: RatingNote) => {
    notes ??= [];
    notes.push(found);
  };
  const billedItems = input.billing?.items ?? NO_BILLED_ITEMS;
  const isBilled = billedItems.length > 0;
  let isCounting = false;
  for (const chargeItem of extractor.chargeItems) {
    if (isBilled && billedItems.some(({ metric }) => metric === chargeItem.metric)) continue;
    const quantity = chargeItem.readQuantity(rawJson, note);
    if (quantity === undefined) continue;
    const item =
      quantity instanceof RatingFailure ? quantity : rateItem(rating, chargeItem, quantity, 'extractor');
    if (item instanceof RatingFailure) return { ok: false, failure: item, ...resolved };
    if ('read' in item) isCounting = true;
    items.push(item);
  }
  for (let index = 0; index < billedItems.length; index += 1) {
    const item = rateBilledItem(rating, billedItems[index] as BilledItem, `x-billing.items[${index}]`);
    if (item instanceof RatingFailure) return { ok: false, failure: item, ...resolved };
    if ('read' in item) isCounting = true;
    items.push(item);
  }
  const end = { rating, notes: notes ?? NO_NOTES };
  return isCounting ? countingEvent(end, items) : ratedEvent(end, items as ChargeItem[]);
}

/** Values that the charge items of one event share. */
interface Rating {
  readonly rules: RatingRules;
  readonly input: RatingInput;
  readonly resolved: Resolved;
  readonly steps: EventSteps;
}

interface EndOfRating {
  readonly rating: Rating;
  readonly notes: readonly RatingNote[];
}

function countingEvent(end: EndOfRating, items: readonly (ChargeItem | PendingItem)[]): CountingEvent {
  const { subject, dimensions } = end.rating.resolved;
  const counted: CountedItem[] = [];
  let texts: ReadonlyMap<string, string> | undefined;
  for (const item of items) {
    if (!('read' in item)) continue;
    // Most counters need no dimensions.
    if (needsDimensions(item.price.total.counter)) texts ??= dimensionTexts(dimensions);
    counted.push(countedItem(item, texts ?? NO_TEXTS));
  }
  return {
    ok: undefined,
    subject,
    dimensions,
    counted,
    price: (totals) => priced(end, items, totals),
    draft: (hasCounter) => draftOf(end, items, hasCounter),
  };
}

function needsDimensions({ by, of }: CounterDefinition): boolean {
  return by.length > 0 || of !== undefined;
}

function draftOf(
  end: EndOfRating,
  items: readonly (ChargeItem | PendingItem)[],
  hasCounter: readonly boolean[],
): RatedEvent {
  const { failsUnpriced } = end.rating.rules.extractor;
  const complete = completed(items, hasCounter, (item, isCounted) =>
    isCounted ? draftItem(item) : pricedItem(item, undefined, failsUnpriced),
  );
  return complete instanceof RatingFailure ? failed(end, complete) : costedEvent(end, complete);
}

function priced(
  end: EndOfRating,
  items: readonly (ChargeItem | PendingItem)[],
  totals: readonly (CounterTotals | undefined)[],
): RatedEvent {
  const { failsUnpriced } = end.rating.rules.extractor;
  const complete = completed(items, totals, (item, known) => pricedItem(item, known, failsUnpriced));
  return complete instanceof RatingFailure ? failed(end, complete) : ratedEvent(end, complete);
}

function failed({ rating: { resolved } }: EndOfRating, failure: RatingFailure): RatedEvent {
  return { ok: false, failure, ...resolved };
}

/** Ends the rating of an event whose charge items all have their amounts, with its discounts and costs. */
function ratedEvent(end: EndOfRating, items: readonly ChargeItem[]): RatedEvent {
  const charged = withDiscounts(items, end.rating.input.billing);
  return charged instanceof RatingFailure ? failed(end, charged) : costedEvent(end, charged);
}

function costedEvent({ rating, notes }: EndOfRating, charged: readonly ChargeItem[]): RatedEvent {
  const { resolved, input } = rating;
  const { subject, dimensions } = resolved;
  const env = { subject, dimensions, occurredAt: input.occurredAt, steps: rating.steps };
  const { items: costed, failures } = withCosts(charged, rating.rules.costs, env);
  const all = failures.length === 0 ? notes : [...notes, ...failures];
  return { ok: true, items: costed, notes: all, subject, dimensions };
}

/** Returns charge items with the discounts of their event; they must have none yet. */
export function withDiscounts(
  items: readonly ChargeItem[],
  billing: Billing | undefined,
): readonly ChargeItem[] | RatingFailure {
  if (billing?.discount_hints === undefined) return items;
  const discounts = new Discounts(billing.discount_hints);
  const charged: ChargeItem[] = [];
  for (const item of items) {
    const discount = discounts.take(item.metric, item);
    if (discount instanceof RatingFailure) return discount;
    charged.push({ ...item, amount: item.amount - discount, discount });
  }
  return charged;
}

/**
 * Prices a client's own item as an item of the extractor with its metric would be; with several extractors, of the
 * first one.
 */
function rateBilledItem(
  rating: Rating,
  billed: BilledItem,
  path: string,
): ChargeItem | PendingItem | RatingFailure {
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
  { rules, input, resolved, steps }: Rating,
  item: ItemRules,
  quantity: Decimal,
  source: ChargeItem['source'],
): ChargeItem | PendingItem | RatingFailure {
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
  if (rules.extractor.failsUnpriced && price.pricingSource === 'unpriced')
    return unpricedFailure({ metric, path: item.path });
  const extractorName = source === 'extractor' ? name : '';
  const read = { extractorName, metric, unit, quantity: storedQuantity, source };
  if (!('total' in price)) return chargeItem(read, price, price.amount, '');
  // Aliases decide which rule applies. The counter has the values of the event, and so does its price.
  env.dimensions = dimensions;
  return { read, price, path: item.path, env };
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
