export { countsValues } from '../windows/counted-values.js';
export { slidingStepAt } from '../windows/sliding.js';
export { changeWindowLimits } from '../windows/window-limit-store.js';
export {
  absentWindows,
  type CountedWindow,
  readCountedWindows,
  type WindowKey,
} from '../windows/window-recount-store.js';
export { BatchPosting, type PostingCatalog, type PreparedPostings } from './batch-posting.js';
export type { WalletDebit } from './debits.js';
export { type EventPosting, PostingPlan } from './posting-plan.js';
export {
  NOT_POSTED,
  type PostedFields,
  type PostingScope,
  type RatedUsage,
  type UsageGroup,
} from './rated-usage.js';
export { createSlidingWindowJob } from './sliding-job.js';
export { lockPosting } from './store.js';
