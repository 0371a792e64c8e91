export { monthOfDay, monthsOf } from './days.js';
export {
  addExcludedDimensions,
  type ExcludedDimension,
  type KnownExclusion,
  readExcludedDimensions,
} from './excluded-dimension-store.js';
export { dropMonth } from './expiry-store.js';
export { createUsageHistory, HISTORY_FRESH_MS, type HistoryScope, type UsageHistory } from './history.js';
export {
  type EveryHistory,
  everyHistory,
  everyTable,
  type OwnTables,
  projectsWithOwnTables,
} from './place-store.js';
export { type BlockReader, isKept, OWN_ROWS, ProjectHistory } from './project-history.js';
export { dedicatedSuffixes, provisionStorage } from './project-store.js';
export { type RetentionPolicy, recordRetention } from './record-retention.js';
export { createRetentionJob, firstKeptDays } from './retention-job.js';
export { hasHiddenUsage, projectsWithExpiredUsage, retainedFromDays } from './retention-store.js';
export {
  LAST_DAY_UNKNOWN,
  ROLLUP_VIEWS,
  SHARED_TABLES,
  type StorageScope,
  type StorageTables,
  storageTables,
  tableSuffix,
} from './tables.js';
