export { type PriceExpression, type RecordedDecimal, recorded } from './attached-pricing.js';
export type { CompiledChargeItem } from './charge-item.js';
export { type CompiledExtractor, compileExtractor, type RuleOrigin } from './compile-extractor.js';
export { RatingFailure } from './failure.js';
export type { Issue } from './issues.js';
