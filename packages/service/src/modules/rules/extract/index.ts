export type { CompiledChargeItem } from './charge-item.js';
export { CURRENCY_DEFAULT, checkCurrency, checkMetric } from './checks.js';
export {
  type CompiledExtractor,
  compileExtractor,
  type RuleOrigin,
  UNSAVED,
} from './compile-extractor.js';
export {
  type CounterDefinition,
  CounterNames,
  type DefinedCounter,
  definedCounters,
} from './counter.js';
export { RatingFailure, type RatingNote, stepsRanOut } from './failure.js';
export { type Issue, Issues } from './issues.js';
export {
  compileItemPricing,
  type ItemPricing,
  type PriceExpression,
  perPricingUnit,
  type RecordedDecimal,
  recorded,
  type TotalPricing,
} from './item-pricing.js';
