import type { PricingPurpose } from '@tollgate/contract';
import type { CompiledPricing } from './compile-pricing.js';
import { EMPTY_PRICE_LIST, type PriceList, priceListOf } from './price-list.js';

/** The rules of the pricing rule sets that are active at one time, by what they give. */
export interface PriceLists {
  readonly prices: PriceList;
  /** Rules that give each charge item a cost, whatever has priced it. */
  readonly costs: PriceList;
}

/** A pricing rule set that is ready, and what its rules give. */
export interface PurposedPricing {
  readonly purpose: PricingPurpose;
  readonly pricing: CompiledPricing;
}

export const NO_PRICE_LISTS: PriceLists = { prices: EMPTY_PRICE_LIST, costs: EMPTY_PRICE_LIST };

export function priceListsOf(pricings: readonly PurposedPricing[]): PriceLists {
  const listOf = (purpose: PricingPurpose) =>
    priceListOf(pricings.filter((each) => each.purpose === purpose).map(({ pricing }) => pricing));
  return { prices: listOf('price'), costs: listOf('cost') };
}
