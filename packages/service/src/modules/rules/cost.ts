import { fromStored } from '../../kernel/decimal.js';
import { RatingFailure, type RatingNote } from './extract/index.js';
import { type ItemEnv, listedPrice, type PendingPrice } from './price.js';
import { EMPTY_PRICE_LIST, namingRuleSet, type PriceList } from './pricing/index.js';

/** The cost of a charge item, and the rule that sets it. The amount is an integer: its value × 10^18. */
export interface ItemCost {
  readonly amount: bigint;
  readonly currency: string;
  readonly ruleSetId: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

/** The fields of a charge item that cost rules see. */
interface CostedItem {
  readonly metric: string;
  readonly unit: string;
  readonly quantity: bigint;
}

/** The values that the charge items of one event share. */
type EventEnv = Pick<ItemEnv, 'dimensions' | 'subject' | 'occurredAt' | 'steps'>;

/** Charge items with their costs, and the notes of those that could not be computed. */
interface CostedItems<Item> {
  readonly items: readonly Item[];
  readonly failures: readonly RatingNote[];
}

const NO_FAILURES: readonly RatingNote[] = [];

/**
 * Returns the charge items of an event with their costs, by the recorded quantities. It is called when all of them have
 * prices, so that costs never take the steps that a price needs. A cost that cannot be computed changes no price and
 * fails no event: a note says why it is missing.
 */
export function withCosts<Item extends CostedItem>(
  items: readonly Item[],
  costs: PriceList,
  env: EventEnv,
): CostedItems<Item> {
  if (costs === EMPTY_PRICE_LIST) return { items, failures: NO_FAILURES };
  const failures: RatingNote[] = [];
  const costed = items.map((item) => {
    const cost = costOf(item, costs, env);
    if (!(cost instanceof RatingFailure)) return { ...item, cost };
    const { message, path } = cost;
    failures.push({ code: 'cost_failed', metric: item.metric, path, message });
    return item;
  });
  return { items: costed, failures };
}

function costOf(
  { metric, unit, quantity }: CostedItem,
  costs: PriceList,
  { dimensions, subject, occurredAt, steps }: EventEnv,
): ItemCost | null | RatingFailure {
  const ofItem = { metric, unit, quantity: fromStored(quantity), unitPrice: undefined };
  const price = listedPrice(costs, { ...ofItem, dimensions, subject, occurredAt, steps });
  if (price === undefined) return null;
  if (price instanceof RatingFailure) return price;
  if ('total' in price) return countedCost(price);
  const { amount, currency, ruleSetId, ruleSetVersion, ruleName } = price;
  return { amount, currency, ruleSetId, ruleSetVersion, ruleName };
}

/** Saved cost rules have no counters; those of a test can. */
function countedCost({ total, ruleSetId, ruleSetVersion: version }: PendingPrice): RatingFailure {
  const failure = new RatingFailure('pricing_failed', 'A cost cannot depend on a counter.', total.price.path);
  return namingRuleSet({ ruleSetId, version }, failure);
}
