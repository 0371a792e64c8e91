export type { PageBounds } from './current-rows-store.js';
export {
  checkName,
  type DimensionCondition,
  dimensionConditions,
  isOfItem,
  meetsCondition,
  reservedColumn,
} from './dimension-conditions.js';
export type { EventFilter } from './event-filter.js';
export { EventParams } from './event-routes.js';
export {
  ITEM_SIGN,
  matchingIds,
  rowSelection,
  SIGN,
  type StoredInput,
  secondsOfId,
  type UsageScope,
} from './event-store.js';
export { nestedValue, toUsageChargeItem, toUsageEvent } from './event-view.js';
export { type AnswerRules, explainItem, type FindUnpriced } from './explain.js';
export {
  type RecordedEvent,
  type RuleAnswer,
  type RuleQuestion,
  recordedItem,
} from './explain-rule.js';
export { registerExportRoutes } from './export-routes.js';
export { eventState } from './failed-store.js';
export { filterSql, StatementParams } from './filter-sql.js';
export {
  countPastUsage,
  type NamedSubject,
  type PastUsage,
  type PastUsageItem,
  type PastUsageSelection,
  readPastUsage,
} from './past-usage-store.js';
export {
  countInputs,
  type InputTotal,
  inputBytes,
  inputTotals,
  type ReplayInput,
  type ReplaySelection,
  readInputs,
  voidedRemainders,
} from './replay-store.js';
export { type ReversalRowFields, reversalRow } from './reversal-row.js';
export type { CorrectionAuthor } from './revisions.js';
export { registerUsageRoutes } from './routes.js';
export {
  assertStorable,
  hasRemainder,
  type ItemCostRow,
  isPostedByRemainder,
  jsonOf,
  type UsageEventRow,
  type UsageItemRow,
} from './row.js';
export { sentFields } from './sent-fields.js';
export { ingestCounts } from './status-store.js';
export { EventRevisions, firstRevisions, revisionRows, storedCoefficient } from './stored-rows.js';
export { resolveTimeRange, type TimeRange } from './time-range.js';
export { createUnpricedDaysJob } from './unpriced-days.js';
export { USAGE_EVENT_COLUMNS, UsageBlock } from './usage-block.js';
