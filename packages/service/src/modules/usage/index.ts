export type { UsageScope } from './event-store.js';
export { toUsageChargeItem, toUsageEvent } from './event-view.js';
export { explainItem } from './explain.js';
export { registerExportRoutes } from './export-routes.js';
export {
  countInputs,
  inputBytes,
  type PageBounds,
  type ReplaySelection,
  readInputs,
  type StoredInput,
} from './replay-store.js';
export { registerUsageRoutes } from './routes.js';
export { encodeUsageEvent, USAGE_EVENT_COLUMNS, type UsageEventRow, type UsageItemRow } from './row.js';
export { RowBinaryWriter } from './row-binary.js';
export { resolveTimeRange, type TimeRange } from './time-range.js';
