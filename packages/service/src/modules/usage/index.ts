export { registerUsageRoutes } from './routes.js';
export { encodeUsageEvent, USAGE_EVENT_COLUMNS, type UsageEventRow, type UsageItemRow } from './row.js';
export { RowBinaryWriter } from './row-binary.js';
