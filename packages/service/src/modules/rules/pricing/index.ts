export {
  type CompiledPricing,
  type CompiledPricingRule,
  compilePricing,
} from './compile-pricing.js';
export { namingRuleSet } from './naming-rule-set.js';
export { nearestRules, pricedMetrics } from './nearest-rules.js';
export { EMPTY_PRICE_LIST, type PriceList, priceListOf } from './price-list.js';
export { NO_PRICE_LISTS, type PriceLists, type PurposedPricing, priceListsOf } from './price-lists.js';
export type { RecordedItem } from './recorded-item.js';
export { pricingRuleNames } from './rule-names.js';
export { explainedRule } from './total-price.js';
