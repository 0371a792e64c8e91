import type { Lists, Maps, NativeRows } from '../../platform/clickhouse-format/index.js';
import type { HistoryScope } from '../storage/index.js';
import { nestedValue } from './event-view.js';
import type { ItemCostRow, UsageEventRow, UsageItemRow } from './row.js';

/** The columns of an event, by the fields of its row. */
export const EVENT_FIELDS = {
  rawEventId: 'raw_event_id',
  occurredAt: 'occurred_at',
  attempt: 'attempt',
  corrections: 'corrections',
  correctionId: 'correction_id',
  receivedAtMs: 'received_at',
  processedAtMs: 'processed_at',
  status: 'status',
  posting: 'posting',
  source: 'source',
  externalEventId: 'external_event_id',
  idempotencyKey: 'idempotency_key',
  subjectType: 'subject_type',
  subjectId: 'subject_id',
  subjectIsSent: 'subject_is_sent',
  accountId: 'account_id',
  budgetLeaseId: 'budget_lease_id',
  leaseStatus: 'lease_status',
  extractorRuleSetId: 'extractor_rule_set_id',
  extractorVersion: 'extractor_version',
  failureCode: 'failure_code',
  failureMessage: 'failure_message',
  failurePath: 'failure_path',
  rawJson: 'raw_json',
  metadata: 'metadata',
  xBilling: 'x_billing',
  notes: 'notes',
} as const satisfies Partial<Record<keyof UsageEventRow, string>>;

const ITEM_FIELDS = {
  extractorName: 'item.extractor_name',
  metric: 'item.metric',
  unit: 'item.unit',
  currency: 'item.currency',
  quantity: 'item.quantity',
  unitPrice: 'item.unit_price',
  amount: 'item.amount',
  discount: 'item.discount',
  source: 'item.source',
  pricingSource: 'item.pricing_source',
  ruleSetId: 'item.rule_set_id',
  ruleSetVersion: 'item.rule_set_version',
  ruleName: 'item.rule_name',
  cumulative: 'item.cumulative',
} as const satisfies Partial<Record<keyof UsageItemRow, string>>;

const COST_FIELDS = {
  amount: 'item.cost_amount',
  currency: 'item.cost_currency',
  ruleSetId: 'item.cost_rule_set_id',
  ruleSetVersion: 'item.cost_rule_set_version',
  ruleName: 'item.cost_rule_name',
} as const satisfies Record<keyof ItemCostRow, string>;

/** Columns of the other fields. */
const LISTS = ['parent.type', 'parent.id', 'dimensions', 'raw_only', 'item.ledger_transaction_id'];

const TEXT = 'LowCardinality(String)';
/** Types to read columns as in which texts are repeated: of a dictionary, each text is read once. */
const READ_AS: Readonly<Record<string, string>> = {
  correction_id: TEXT,
  source: TEXT,
  account_id: TEXT,
  budget_lease_id: TEXT,
  failure_message: TEXT,
  failure_path: TEXT,
  metadata: TEXT,
  x_billing: TEXT,
  notes: TEXT,
  'parent.id': `Array(${TEXT})`,
  raw_only: `Array(${TEXT})`,
  dimensions: `Map(${TEXT}, ${TEXT})`,
  'item.extractor_name': `Array(${TEXT})`,
  'item.metric': `Array(${TEXT})`,
  'item.unit': `Array(${TEXT})`,
  'item.currency': `Array(${TEXT})`,
  'item.rule_set_id': `Array(${TEXT})`,
  'item.rule_name': `Array(${TEXT})`,
  'item.cumulative': `Array(${TEXT})`,
  'item.ledger_transaction_id': `Array(${TEXT})`,
  'item.cost_currency': `Array(${TEXT})`,
  'item.cost_rule_set_id': `Array(${TEXT})`,
  'item.cost_rule_name': `Array(${TEXT})`,
};

/** The columns of a SELECT whose result `eventRowsOf` reads. */
export const ROW_COLUMNS = [EVENT_FIELDS, ITEM_FIELDS, COST_FIELDS, LISTS]
  .flatMap((names): string[] => Object.values(names))
  .map((name) => (READ_AS[name] === undefined ? name : `CAST(${name}, '${READ_AS[name]}') AS "${name}"`))
  .join(', ');

/** Returns the rows of a block, which are no counter rows. */
export function eventRowsOf(
  { tenantId, projectId }: Pick<HistoryScope, 'tenantId' | 'projectId'>,
  block: NativeRows,
): UsageEventRow[] {
  const { rowCount } = block;
  const fields = columnsOf<UsageEventRow, keyof typeof EVENT_FIELDS>(block, EVENT_FIELDS);
  const parentTypes = block.column<Lists<string>>('parent.type');
  const parentIds = block.column<Lists<string>>('parent.id');
  const dimensions = block.column<Maps>('dimensions');
  const excludedDimensions = block.column<Lists<string>>('raw_only');
  const transactionIds = block.column<Lists<string>>('item.ledger_transaction_id');
  const itemsAt = itemsOf(block);
  return Array.from(
    { length: rowCount },
    (_, at): UsageEventRow => ({
      tenantId,
      projectId,
      isCounter: false,
      rawEventId: nestedValue(fields.rawEventId, at),
      occurredAt: nestedValue(fields.occurredAt, at),
      attempt: nestedValue(fields.attempt, at),
      corrections: nestedValue(fields.corrections, at),
      correctionId: nestedValue(fields.correctionId, at),
      receivedAtMs: nestedValue(fields.receivedAtMs, at),
      processedAtMs: nestedValue(fields.processedAtMs, at),
      status: nestedValue(fields.status, at),
      posting: nestedValue(fields.posting, at),
      source: nestedValue(fields.source, at),
      externalEventId: nestedValue(fields.externalEventId, at),
      idempotencyKey: nestedValue(fields.idempotencyKey, at),
      subjectType: nestedValue(fields.subjectType, at),
      subjectId: nestedValue(fields.subjectId, at),
      parents: elementsOf(parentTypes, at).map((type, level) => ({
        type,
        id: nestedValue(parentIds.values, startOf(parentIds, at) + level),
      })),
      subjectIsSent: nestedValue(fields.subjectIsSent, at),
      accountId: nestedValue(fields.accountId, at),
      budgetLeaseId: nestedValue(fields.budgetLeaseId, at),
      leaseStatus: nestedValue(fields.leaseStatus, at),
      extractorRuleSetId: nestedValue(fields.extractorRuleSetId, at),
      extractorVersion: nestedValue(fields.extractorVersion, at),
      dimensions: mapOf(dimensions, at),
      excludedDimensions: elementsOf(excludedDimensions, at),
      failureCode: nestedValue(fields.failureCode, at),
      failureMessage: nestedValue(fields.failureMessage, at),
      failurePath: nestedValue(fields.failurePath, at),
      rawJson: nestedValue(fields.rawJson, at),
      metadata: nestedValue(fields.metadata, at),
      xBilling: nestedValue(fields.xBilling, at),
      notes: nestedValue(fields.notes, at),
      items: itemsAt(at),
      itemTransactionIds: transactionsOf(elementsOf(transactionIds, at)),
    }),
  );
}

type Columns<Row, Field extends keyof Row> = { readonly [Name in Field]: readonly Row[Name][] };

function columnsOf<Row, Field extends keyof Row & string>(
  block: NativeRows,
  names: Readonly<Record<Field, string>>,
): Columns<Row, Field> {
  const columns = Object.entries<string>(names).map(([field, name]) => [field, block.column(name)]);
  return Object.fromEntries(columns);
}

/** The same of the elements of lists, which have the same lengths. */
function listColumnsOf<Row, Field extends keyof Row & string>(
  block: NativeRows,
  names: Readonly<Record<Field, string>>,
): Columns<Row, Field> {
  const lists = columnsOf<Record<Field, never>, Field>(block, names);
  const columns = Object.entries(lists).map(([field, list]) => [field, (list as Lists<unknown>).values]);
  return Object.fromEntries(columns);
}

/** Returns the charge items of the row at a place. */
function itemsOf(block: NativeRows): (at: number) => UsageItemRow[] {
  const metrics = block.column<Lists<string>>(ITEM_FIELDS.metric);
  const fields = listColumnsOf<UsageItemRow, keyof typeof ITEM_FIELDS>(block, ITEM_FIELDS);
  const costs = listColumnsOf<ItemCostRow, keyof ItemCostRow>(block, COST_FIELDS);
  const itemAt = (at: number): UsageItemRow => ({
    extractorName: nestedValue(fields.extractorName, at),
    metric: nestedValue(fields.metric, at),
    unit: nestedValue(fields.unit, at),
    currency: nestedValue(fields.currency, at),
    quantity: nestedValue(fields.quantity, at),
    unitPrice: nestedValue(fields.unitPrice, at),
    amount: nestedValue(fields.amount, at),
    discount: nestedValue(fields.discount, at),
    source: nestedValue(fields.source, at),
    pricingSource: nestedValue(fields.pricingSource, at),
    ruleSetId: nestedValue(fields.ruleSetId, at),
    ruleSetVersion: nestedValue(fields.ruleSetVersion, at),
    ruleName: nestedValue(fields.ruleName, at),
    cumulative: nestedValue(fields.cumulative, at),
    cost: nestedValue(costs.currency, at) === '' ? null : costAt(costs, at),
  });
  return (at) => {
    const items: UsageItemRow[] = [];
    for (let item = startOf(metrics, at); item < nestedValue(metrics.ends, at); item++)
      items.push(itemAt(item));
    return items;
  };
}

function costAt(fields: Columns<ItemCostRow, keyof ItemCostRow>, at: number): ItemCostRow {
  return {
    amount: nestedValue(fields.amount, at),
    currency: nestedValue(fields.currency, at),
    ruleSetId: nestedValue(fields.ruleSetId, at),
    ruleSetVersion: nestedValue(fields.ruleSetVersion, at),
    ruleName: nestedValue(fields.ruleName, at),
  };
}

/** The place of the first element of a row. */
function startOf({ ends }: Pick<Lists<unknown>, 'ends'>, at: number): number {
  return at === 0 ? 0 : nestedValue(ends, at - 1);
}

const NO_TEXTS: readonly string[] = [];

function elementsOf(list: Lists<string>, at: number): readonly string[] {
  const start = startOf(list, at);
  const end = nestedValue(list.ends, at);
  return start === end ? NO_TEXTS : list.values.slice(start, end);
}

function mapOf({ ends, keys, values }: Maps, at: number): Map<string, string> {
  const map = new Map<string, string>();
  for (let entry = startOf({ ends }, at); entry < nestedValue(ends, at); entry++)
    map.set(nestedValue(keys, entry), nestedValue(values, entry));
  return map;
}

/** Nothing was posted where no item names a transaction. */
function transactionsOf(ids: readonly string[]): readonly string[] {
  return ids.some((id) => id !== '') ? ids : NO_TEXTS;
}
