export { appliedAliases } from './applied-aliases.js';
export {
  type CompiledPricing,
  type CompiledPricingRule,
  compilePricing,
} from './compile-pricing.js';
export { nearestRules, pricedMetrics } from './nearest-rules.js';
export { placedIn } from './placed-in.js';
export { EMPTY_PRICE_LIST, type PriceList, priceListOf } from './price-list.js';
export type { SeenItem } from './seen-item.js';
