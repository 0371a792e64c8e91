import type { Lists, Maps, NativeRows, Values } from '../../platform/clickhouse-format/index.js';
import type { HistoryScope } from '../storage/index.js';
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

/** The columns of a SELECT whose result `eventRowReader` reads. */
export const ROW_COLUMNS = [EVENT_FIELDS, ITEM_FIELDS, COST_FIELDS, LISTS]
  .flatMap((names): string[] => Object.values(names))
  .map((name) => (READ_AS[name] === undefined ? name : `CAST(${name}, '${READ_AS[name]}') AS "${name}"`))
  .join(', ');

/** A column with the size of the received JSON. The table is named `event`. */
export const JSON_BYTES = `toUInt32(length(event.${EVENT_FIELDS.rawJson})) AS json_bytes`;

/** The same without the received JSON, which is empty then. */
export const COLUMNS_WITHOUT_JSON = ROW_COLUMNS.replace(
  ` ${EVENT_FIELDS.rawJson},`,
  ` '' AS ${EVENT_FIELDS.rawJson},`,
);

/**
 * Returns a function that reads the row at a place of a block, which has no reversal rows. It looks the columns up
 * once.
 */
export function eventRowReader(
  { tenantId, projectId }: Pick<HistoryScope, 'tenantId' | 'projectId'>,
  block: NativeRows,
): (at: number) => UsageEventRow {
  const fields = columnsOf<UsageEventRow, keyof typeof EVENT_FIELDS>(block, EVENT_FIELDS);
  const parentTypes = block.column<Lists<string>>('parent.type');
  const parentIds = block.column<Lists<string>>('parent.id');
  assertAlike(parentTypes, parentIds);
  const dimensions = block.column<Maps>('dimensions');
  const excludedDimensions = block.column<Lists<string>>('raw_only');
  const transactionIds = block.column<Lists<string>>('item.ledger_transaction_id');
  const itemsAt = itemsOf(block);
  return (at): UsageEventRow => ({
    tenantId,
    projectId,
    isReversal: false,
    rawEventId: fields.rawEventId.at(at),
    occurredAt: fields.occurredAt.at(at),
    attempt: fields.attempt.at(at),
    corrections: fields.corrections.at(at),
    correctionId: fields.correctionId.at(at),
    receivedAtMs: fields.receivedAtMs.at(at),
    processedAtMs: fields.processedAtMs.at(at),
    status: fields.status.at(at),
    posting: fields.posting.at(at),
    source: fields.source.at(at),
    externalEventId: fields.externalEventId.at(at),
    idempotencyKey: fields.idempotencyKey.at(at),
    subjectType: fields.subjectType.at(at),
    subjectId: fields.subjectId.at(at),
    parents: elementsOf(parentTypes, at, (level) => ({
      type: parentTypes.values.at(level),
      id: parentIds.values.at(level),
    })),
    subjectIsSent: fields.subjectIsSent.at(at),
    accountId: fields.accountId.at(at),
    budgetLeaseId: fields.budgetLeaseId.at(at),
    leaseStatus: fields.leaseStatus.at(at),
    extractorRuleSetId: fields.extractorRuleSetId.at(at),
    extractorVersion: fields.extractorVersion.at(at),
    dimensions: mapOf(dimensions, at),
    excludedDimensions: elementsOf(excludedDimensions, at, (place) => excludedDimensions.values.at(place)),
    failureCode: fields.failureCode.at(at),
    failureMessage: fields.failureMessage.at(at),
    failurePath: fields.failurePath.at(at),
    rawJson: fields.rawJson.at(at),
    metadata: fields.metadata.at(at),
    xBilling: fields.xBilling.at(at),
    notes: fields.notes.at(at),
    items: itemsAt(at),
    itemTransactionIds: transactionsOf(
      elementsOf(transactionIds, at, (place) => transactionIds.values.at(place)),
    ),
  });
}

type Columns<Row, Field extends keyof Row> = { readonly [Name in Field]: Values<Row[Name]> };

function columnsOf<Row, Field extends keyof Row & string>(
  block: NativeRows,
  names: Readonly<Record<Field, string>>,
): Columns<Row, Field> {
  const columns = Object.entries<string>(names).map(([field, name]) => [field, block.column(name)]);
  return Object.fromEntries(columns);
}

/** The same of the elements of lists. @throws Error unless they are as many as those of `like` */
function listColumnsOf<Row, Field extends keyof Row & string>(
  block: NativeRows,
  names: Readonly<Record<Field, string>>,
  like: Lists<unknown>,
): Columns<Row, Field> {
  const columns = Object.entries<string>(names).map(([field, name]) => {
    const list = block.column<Lists<unknown>>(name);
    assertAlike(like, list);
    return [field, list.values];
  });
  return Object.fromEntries(columns);
}

function assertAlike(a: Lists<unknown>, b: Lists<unknown>): void {
  if (a.values.length !== b.values.length) throw new Error('the columns of a list differ in length');
}

/** Returns the charge items of the row at a place. */
function itemsOf(block: NativeRows): (at: number) => UsageItemRow[] {
  const metrics = block.column<Lists<string>>(ITEM_FIELDS.metric);
  const fields = listColumnsOf<UsageItemRow, keyof typeof ITEM_FIELDS>(block, ITEM_FIELDS, metrics);
  const costs = listColumnsOf<ItemCostRow, keyof ItemCostRow>(block, COST_FIELDS, metrics);
  const itemAt = (at: number): UsageItemRow => ({
    extractorName: fields.extractorName.at(at),
    metric: fields.metric.at(at),
    unit: fields.unit.at(at),
    currency: fields.currency.at(at),
    quantity: fields.quantity.at(at),
    unitPrice: fields.unitPrice.at(at),
    amount: fields.amount.at(at),
    discount: fields.discount.at(at),
    source: fields.source.at(at),
    pricingSource: fields.pricingSource.at(at),
    ruleSetId: fields.ruleSetId.at(at),
    ruleSetVersion: fields.ruleSetVersion.at(at),
    ruleName: fields.ruleName.at(at),
    cumulative: fields.cumulative.at(at),
    cost: costs.currency.at(at) === '' ? null : costAt(costs, at),
  });
  return (at) => {
    const items: UsageItemRow[] = [];
    const end = metrics.ends.at(at);
    for (let item = startOf(metrics, at); item < end; item++) items.push(itemAt(item));
    return items;
  };
}

function costAt(fields: Columns<ItemCostRow, keyof ItemCostRow>, at: number): ItemCostRow {
  return {
    amount: fields.amount.at(at),
    currency: fields.currency.at(at),
    ruleSetId: fields.ruleSetId.at(at),
    ruleSetVersion: fields.ruleSetVersion.at(at),
    ruleName: fields.ruleName.at(at),
  };
}

/** The place of the first element of a row. */
function startOf({ ends }: Pick<Lists<unknown>, 'ends'>, at: number): number {
  return at === 0 ? 0 : ends.at(at - 1);
}

const NOTHING: readonly never[] = [];

/** Returns the elements of a row. @param valueAt returns the element at a place of the list's values */
function elementsOf<Value>(
  list: Pick<Lists<unknown>, 'ends'>,
  at: number,
  valueAt: (place: number) => Value,
): readonly Value[] {
  const start = startOf(list, at);
  const end = list.ends.at(at);
  if (start === end) return NOTHING;
  const elements: Value[] = [];
  for (let place = start; place < end; place++) elements.push(valueAt(place));
  return elements;
}

function mapOf({ ends, keys, values }: Maps, at: number): Map<string, string> {
  const map = new Map<string, string>();
  const end = ends.at(at);
  for (let entry = startOf({ ends }, at); entry < end; entry++) map.set(keys.at(entry), values.at(entry));
  return map;
}

/** Nothing was posted where no item names a transaction. */
function transactionsOf(ids: readonly string[]): readonly string[] {
  return ids.some((id) => id !== '') ? ids : NOTHING;
}
