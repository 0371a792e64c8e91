export type { CompiledChargeItem } from './charge-item.js';
export { checkCurrency, checkMetric } from './checks.js';
export {
  type CompiledExtractor,
  compileExtractor,
  type RuleOrigin,
  UNSAVED,
} from './compile-extractor.js';
export { RatingFailure, type RatingNote, stepsRanOut } from './failure.js';
export { type Issue, Issues } from './issues.js';
export {
  CURRENCY_DEFAULT,
  compileItemPricing,
  type ItemPricing,
  type PriceExpression,
  perPricingUnit,
  type RecordedDecimal,
  recorded,
} from './item-pricing.js';
