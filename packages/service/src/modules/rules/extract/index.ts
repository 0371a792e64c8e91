export { type PriceExpression, type RecordedDecimal, recorded } from './attached-pricing.js';
export type { CompiledChargeItem } from './charge-item.js';
export { type CompiledExtractor, compileExtractor, type ExtractorResult } from './compile-extractor.js';
export { RatingFailure, type RatingFailureCode } from './failure.js';
export type { Issue } from './issues.js';
