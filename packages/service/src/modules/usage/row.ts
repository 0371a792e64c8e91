import type { RowBinaryWriter } from './row-binary.js';

/** One charge item of a row. Decimals are their value × 10^18. */
export interface UsageItemRow {
  readonly extractorName: string;
  readonly metric: string;
  readonly unit: string;
  /** Empty when nothing priced the item. */
  readonly currency: string;
  readonly quantity: bigint;
  readonly unitPrice: bigint | null;
  /** What is charged. */
  readonly amount: bigint;
  /** What a discount hint has taken off the amount. */
  readonly discount: bigint;
  readonly source: keyof typeof ITEM_SOURCES;
  readonly pricingSource: keyof typeof PRICING_SOURCES;
  readonly ruleSetId: string;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

/** One row of ClickHouse's `usage_events`; an absent text is empty there. */
export interface UsageEventRow {
  readonly tenantId: string;
  readonly projectId: string;
  /** 16 bytes. */
  readonly rawEventId: Uint8Array;
  /** Unix seconds, 0 to 2^32 − 1. */
  readonly occurredAt: number;
  /** 0 at first; each reprocessing adds one, and the row with the greatest stands. */
  readonly attempt: number;
  readonly receivedAtMs: number;
  readonly processedAtMs: number;
  readonly status: keyof typeof EVENT_STATUSES;
  readonly posting: keyof typeof POSTINGS;
  readonly source: string;
  readonly externalEventId: string;
  readonly idempotencyKey: string;
  readonly subjectType: string;
  readonly subjectId: string;
  /** The pair came with the event, and not from its extractor. */
  readonly subjectIsSent: boolean;
  readonly accountId: string;
  readonly budgetLeaseId: string;
  /** Of the lease that the event names, as it was when the event was rated; `none` without one. */
  readonly leaseStatus: keyof typeof LEASE_STATUSES;
  readonly extractorRuleSetId: string;
  /** 0 when the event failed before a version was found. */
  readonly extractorVersion: number;
  readonly dimensions: ReadonlyMap<string, string>;
  /** Names of those dimensions that the rollup goes without. */
  readonly rawOnly: readonly string[];
  readonly failureCode: string;
  readonly failureMessage: string;
  readonly failurePath: string;
  /** JSON text as received: UTF-8 bytes, or the text when no bytes of it exist. */
  readonly rawJson: Uint8Array | string;
  readonly metadata: string;
  readonly xBilling: string;
  readonly items: readonly UsageItemRow[];
  /** For each item, in their order, the ledger transaction that posted it, or an empty text; none at all when nothing was posted. */
  readonly itemTransactionIds: readonly string[];
}

export const EVENT_STATUSES = { processed: 1, failed: 2 } as const;
export const POSTINGS = { none: 0, posted: 1, unpriced: 2, unrouted: 3 } as const;
export const LEASE_STATUSES = { none: 0, applied: 1, closed: 2, expired: 3, unknown: 4 } as const;
export const ITEM_SOURCES = { extractor: 1, x_billing: 2 } as const;
export const PRICING_SOURCES = { hint: 1, extractor: 2, pricing_rule_set: 3, unpriced: 4 } as const;

const RAW_EVENT_ID_BYTES = 16;

/** The columns that `encodeUsageEvent` writes, in its order. */
export const USAGE_EVENT_COLUMNS = [
  'tenant_id',
  'project_id',
  'raw_event_id',
  'occurred_at',
  'attempt',
  'received_at',
  'processed_at',
  'status',
  'posting',
  'source',
  'external_event_id',
  'idempotency_key',
  'subject_type',
  'subject_id',
  'subject_is_sent',
  'account_id',
  'budget_lease_id',
  'lease_status',
  'extractor_rule_set_id',
  'extractor_version',
  'dimensions',
  'raw_only',
  'failure_code',
  'failure_message',
  'failure_path',
  'raw_json',
  'metadata',
  'x_billing',
  'item.extractor_name',
  'item.metric',
  'item.unit',
  'item.currency',
  'item.quantity',
  'item.unit_price',
  'item.amount',
  'item.discount',
  'item.source',
  'item.pricing_source',
  'item.rule_set_id',
  'item.rule_set_version',
  'item.rule_name',
  'item.ledger_transaction_id',
] as const;

/**
 * Appends one row. A number outside its column's range throws a RangeError and leaves a partial row behind:
 * take it back with `truncate`.
 */
export function encodeUsageEvent(writer: RowBinaryWriter, row: UsageEventRow): void {
  if (row.rawEventId.length !== RAW_EVENT_ID_BYTES) throw new RangeError('a raw event id has 16 bytes');
  writer.string(row.tenantId);
  writer.string(row.projectId);
  writer.fixedString(row.rawEventId);
  writer.uint32(row.occurredAt);
  writer.uint16(row.attempt);
  writer.int64(row.receivedAtMs);
  writer.int64(row.processedAtMs);
  writer.uint8(EVENT_STATUSES[row.status]);
  writer.uint8(POSTINGS[row.posting]);
  writer.string(row.source);
  writer.string(row.externalEventId);
  writer.string(row.idempotencyKey);
  writer.string(row.subjectType);
  writer.string(row.subjectId);
  writer.uint8(row.subjectIsSent ? 1 : 0);
  writer.string(row.accountId);
  writer.string(row.budgetLeaseId);
  writer.uint8(LEASE_STATUSES[row.leaseStatus]);
  writer.string(row.extractorRuleSetId);
  writer.uint32(row.extractorVersion);
  encodeDimensions(writer, row.dimensions);
  writer.varint(row.rawOnly.length);
  for (const name of row.rawOnly) writer.string(name);
  writer.string(row.failureCode);
  writer.string(row.failureMessage);
  writer.string(row.failurePath);
  if (typeof row.rawJson === 'string') writer.string(row.rawJson);
  else writer.stringBytes(row.rawJson);
  writer.string(row.metadata);
  writer.string(row.xBilling);
  encodeItems(writer, row.items);
  encodeTransactionIds(writer, row);
}

function encodeDimensions(writer: RowBinaryWriter, dimensions: ReadonlyMap<string, string>): void {
  writer.varint(dimensions.size);
  for (const [name, value] of dimensions) {
    writer.string(name);
    writer.string(value);
  }
}

/** Nested is stored by column: one array per field, all of the same length. */
function encodeItems(writer: RowBinaryWriter, items: readonly UsageItemRow[]): void {
  const count = items.length;
  writer.varint(count);
  for (const item of items) writer.string(item.extractorName);
  writer.varint(count);
  for (const item of items) writer.string(item.metric);
  writer.varint(count);
  for (const item of items) writer.string(item.unit);
  writer.varint(count);
  for (const item of items) writer.string(item.currency);
  writer.varint(count);
  for (const item of items) writer.decimal128(item.quantity);
  writer.varint(count);
  for (const item of items) writer.nullableDecimal128(item.unitPrice);
  writer.varint(count);
  for (const item of items) writer.decimal128(item.amount);
  writer.varint(count);
  for (const item of items) writer.decimal128(item.discount);
  writer.varint(count);
  for (const item of items) writer.uint8(ITEM_SOURCES[item.source]);
  writer.varint(count);
  for (const item of items) writer.uint8(PRICING_SOURCES[item.pricingSource]);
  writer.varint(count);
  for (const item of items) writer.string(item.ruleSetId);
  writer.varint(count);
  for (const item of items) writer.uint32(item.ruleSetVersion);
  writer.varint(count);
  for (const item of items) writer.string(item.ruleName);
}

function encodeTransactionIds(writer: RowBinaryWriter, { items, itemTransactionIds }: UsageEventRow): void {
  const count = items.length;
  writer.varint(count);
  if (itemTransactionIds.length === count) for (const id of itemTransactionIds) writer.string(id);
  else if (itemTransactionIds.length === 0) for (let i = 0; i < count; i++) writer.string('');
  else throw new RangeError(`${count} charge items have ${itemTransactionIds.length} ledger transactions`);
}
