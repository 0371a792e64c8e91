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
