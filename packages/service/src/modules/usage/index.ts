export type { ExtractorVersions } from './event-routes.js';
export type { ExtractorText } from './explain.js';
export { registerUsageRoutes, type UsageDeps } from './routes.js';
export {
  EVENT_STATUSES,
  encodeUsageEvent,
  ITEM_SOURCES,
  POSTINGS,
  PRICING_SOURCES,
  USAGE_EVENT_COLUMNS,
  type UsageEventRow,
  type UsageItemRow,
} from './row.js';
export { RowBinaryWriter } from './row-binary.js';
