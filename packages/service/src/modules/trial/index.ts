export { BacktestJobs } from './backtest-jobs.js';
export {
  type BacktestRating,
  type BacktestWork,
  createBacktestRating,
} from './backtest-rating.js';
export { registerBacktestRoutes } from './backtest-routes.js';
export { type BacktestDeps, Backtests } from './backtests.js';
export { registerLimitBacktestRoutes } from './limit-backtest-routes.js';
export { LimitBacktests } from './limit-backtests.js';
export {
  type CountLimits,
  countLimits,
  type LimitBacktestFindings,
  type LimitBacktestWork,
} from './limit-counting.js';
export type { OnProgress } from './progress.js';
export { inOrderOfRating, storedCountsOf } from './rating-order.js';
export { unpricedFinder } from './stored-unpriced.js';
export { registerTestRoutes } from './test-routes.js';
export { testRules } from './test-rules.js';
export { compiledExtractor, type RuleSetsForTrial, saved, trialRules } from './trial-rules.js';
