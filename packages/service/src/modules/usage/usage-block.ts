import {
  ArrayColumn,
  DictionaryColumn,
  ListLengths,
  MapColumn,
  type NamedColumn,
  NullableColumn,
  nativeBlock,
  PlainColumn,
} from '../../platform/clickhouse-format/index.js';
import {
  assertStorable,
  EVENT_STATUSES,
  ITEM_SOURCES,
  type ItemCostRow,
  LEASE_STATUSES,
  POSTINGS,
  PRICING_SOURCES,
  type UsageEventRow,
  type UsageItemRow,
} from './row.js';

const DECIMAL = 'Decimal(38, 18)';

/** The costs of the charge items of a block; one with an empty currency is none. */
class CostColumns {
  readonly #amount = new PlainColumn('Decimal(38, 18)');
  readonly #currency = new DictionaryColumn();
  readonly #ruleSetId = new DictionaryColumn();
  readonly #ruleSetVersion = new PlainColumn('UInt32');
  readonly #ruleName = new DictionaryColumn();

  /** @param lengths of the lists of charge items */
  columns(lengths: ListLengths): readonly NamedColumn[] {
    return [
      ['item.cost_amount', new ArrayColumn(lengths, this.#amount)],
      ['item.cost_currency', new ArrayColumn(lengths, this.#currency)],
      ['item.cost_rule_set_id', new ArrayColumn(lengths, this.#ruleSetId)],
      ['item.cost_rule_set_version', new ArrayColumn(lengths, this.#ruleSetVersion)],
      ['item.cost_rule_name', new ArrayColumn(lengths, this.#ruleName)],
    ];
  }

  add(cost: ItemCostRow | null): void {
    this.#amount.decimal128(cost?.amount ?? 0n);
    this.#currency.string(cost?.currency ?? '');
    this.#ruleSetId.string(cost?.ruleSetId ?? '');
    this.#ruleSetVersion.uint32(cost?.ruleSetVersion ?? 0);
    this.#ruleName.string(cost?.ruleName ?? '');
  }
}

/** The charge items of a block: a list for each field, all of the same length. */
class ItemColumns {
  readonly #lengths = new ListLengths();
  readonly #extractorName = new DictionaryColumn();
  readonly #metric = new DictionaryColumn();
  readonly #unit = new DictionaryColumn();
  readonly #currency = new DictionaryColumn();
  readonly #quantity = new PlainColumn(DECIMAL);
  readonly #unitPrice = new NullableColumn(new PlainColumn(DECIMAL));
  readonly #amount = new PlainColumn(DECIMAL);
  readonly #discount = new PlainColumn(DECIMAL);
  readonly #source = new PlainColumn(enumOf(ITEM_SOURCES));
  readonly #pricingSource = new PlainColumn(enumOf(PRICING_SOURCES));
  readonly #ruleSetId = new DictionaryColumn();
  readonly #ruleSetVersion = new PlainColumn('UInt32');
  readonly #ruleName = new DictionaryColumn();
  readonly #cumulative = new PlainColumn('String');
  readonly #transactionId = new PlainColumn('String');
  readonly #costs = new CostColumns();

  readonly columns: readonly NamedColumn[] = [
    ['item.extractor_name', new ArrayColumn(this.#lengths, this.#extractorName)],
    ['item.metric', new ArrayColumn(this.#lengths, this.#metric)],
    ['item.unit', new ArrayColumn(this.#lengths, this.#unit)],
    ['item.currency', new ArrayColumn(this.#lengths, this.#currency)],
    ['item.quantity', new ArrayColumn(this.#lengths, this.#quantity)],
    ['item.unit_price', new ArrayColumn(this.#lengths, this.#unitPrice)],
    ['item.amount', new ArrayColumn(this.#lengths, this.#amount)],
    ['item.discount', new ArrayColumn(this.#lengths, this.#discount)],
    ['item.source', new ArrayColumn(this.#lengths, this.#source)],
    ['item.pricing_source', new ArrayColumn(this.#lengths, this.#pricingSource)],
    ['item.rule_set_id', new ArrayColumn(this.#lengths, this.#ruleSetId)],
    ['item.rule_set_version', new ArrayColumn(this.#lengths, this.#ruleSetVersion)],
    ['item.rule_name', new ArrayColumn(this.#lengths, this.#ruleName)],
    ['item.cumulative', new ArrayColumn(this.#lengths, this.#cumulative)],
    ['item.ledger_transaction_id', new ArrayColumn(this.#lengths, this.#transactionId)],
    ...this.#costs.columns(this.#lengths),
  ];

  /** Number of items of all rows. */
  get count(): number {
    return this.#lengths.total;
  }

  /** Adds the items of one row, and the ledger transaction of each; no transactions when nothing was posted. */
  add(items: readonly UsageItemRow[], transactionIds: readonly string[]): void {
    this.#lengths.add(items.length);
    for (const item of items) {
      this.#extractorName.string(item.extractorName);
      this.#metric.string(item.metric);
      this.#unit.string(item.unit);
      this.#currency.string(item.currency);
      this.#quantity.decimal128(item.quantity);
      this.#unitPrice.isNull(item.unitPrice === null);
      this.#unitPrice.values.decimal128(item.unitPrice ?? 0n);
      this.#amount.decimal128(item.amount);
      this.#discount.decimal128(item.discount);
      this.#source.uint8(ITEM_SOURCES[item.source]);
      this.#pricingSource.uint8(PRICING_SOURCES[item.pricingSource]);
      this.#ruleSetId.string(item.ruleSetId);
      this.#ruleSetVersion.uint32(item.ruleSetVersion);
      this.#ruleName.string(item.ruleName);
      this.#cumulative.string(item.cumulative);
      this.#costs.add(item.cost);
    }
    if (transactionIds.length > 0) for (const id of transactionIds) this.#transactionId.string(id);
    else for (let index = 0; index < items.length; index++) this.#transactionId.string('');
  }
}

/** `Enum8` with these numbers. */
function enumOf(names: Readonly<Record<string, number>>): string {
  const entries = Object.entries(names).map(([name, number]) => `'${name}' = ${number}`);
  return `Enum8(${entries.join(', ')})`;
}

const MILLISECONDS = "DateTime64(3, 'UTC')";

/** Rows of `usage_events` to insert, column by column. */
export class UsageBlock {
  readonly #tenantId = new DictionaryColumn();
  readonly #projectId = new DictionaryColumn();
  readonly #rawEventId = new PlainColumn('FixedString(16)');
  readonly #occurredAt = new PlainColumn("DateTime('UTC')");
  readonly #attempt = new PlainColumn('UInt16');
  readonly #corrections = new PlainColumn('UInt32');
  readonly #isReversal = new PlainColumn('Bool');
  readonly #correctionId = new DictionaryColumn();
  readonly #receivedAt = new PlainColumn(MILLISECONDS);
  readonly #processedAt = new PlainColumn(MILLISECONDS);
  readonly #status = new PlainColumn(enumOf(EVENT_STATUSES));
  readonly #posting = new PlainColumn(enumOf(POSTINGS));
  readonly #source = new PlainColumn('String');
  readonly #externalEventId = new PlainColumn('String');
  readonly #idempotencyKey = new PlainColumn('String');
  readonly #subjectType = new DictionaryColumn();
  readonly #subjectId = new PlainColumn('String');
  readonly #subjectIsSent = new PlainColumn('Bool');
  readonly #parentCounts = new ListLengths();
  readonly #parentTypes = new DictionaryColumn();
  readonly #parentIds = new PlainColumn('String');
  readonly #accountId = new PlainColumn('String');
  readonly #budgetLeaseId = new PlainColumn('String');
  readonly #leaseStatus = new PlainColumn(enumOf(LEASE_STATUSES));
  readonly #extractorRuleSetId = new DictionaryColumn();
  readonly #extractorVersion = new PlainColumn('UInt32');
  readonly #dimensionCounts = new ListLengths();
  readonly #dimensionNames = new DictionaryColumn();
  readonly #dimensionValues = new PlainColumn('String');
  readonly #excludedDimensionCounts = new ListLengths();
  readonly #excludedDimensions = new DictionaryColumn();
  readonly #failureCode = new DictionaryColumn();
  readonly #failureMessage = new PlainColumn('String');
  readonly #failurePath = new PlainColumn('String');
  readonly #rawJson = new PlainColumn('String');
  readonly #metadata = new PlainColumn('String');
  readonly #xBilling = new PlainColumn('String');
  readonly #notes = new PlainColumn('String');
  readonly #items = new ItemColumns();
  #eventCount = 0;

  readonly #columns: readonly NamedColumn[] = [
    ['tenant_id', this.#tenantId],
    ['project_id', this.#projectId],
    ['raw_event_id', this.#rawEventId],
    ['occurred_at', this.#occurredAt],
    ['attempt', this.#attempt],
    ['corrections', this.#corrections],
    ['is_counter', this.#isReversal],
    ['correction_id', this.#correctionId],
    ['received_at', this.#receivedAt],
    ['processed_at', this.#processedAt],
    ['status', this.#status],
    ['posting', this.#posting],
    ['source', this.#source],
    ['external_event_id', this.#externalEventId],
    ['idempotency_key', this.#idempotencyKey],
    ['subject_type', this.#subjectType],
    ['subject_id', this.#subjectId],
    ['subject_is_sent', this.#subjectIsSent],
    ['parent.type', new ArrayColumn(this.#parentCounts, this.#parentTypes)],
    ['parent.id', new ArrayColumn(this.#parentCounts, this.#parentIds)],
    ['account_id', this.#accountId],
    ['budget_lease_id', this.#budgetLeaseId],
    ['lease_status', this.#leaseStatus],
    ['extractor_rule_set_id', this.#extractorRuleSetId],
    ['extractor_version', this.#extractorVersion],
    ['dimensions', new MapColumn(this.#dimensionCounts, this.#dimensionNames, this.#dimensionValues)],
    ['raw_only', new ArrayColumn(this.#excludedDimensionCounts, this.#excludedDimensions)],
    ['failure_code', this.#failureCode],
    ['failure_message', this.#failureMessage],
    ['failure_path', this.#failurePath],
    ['raw_json', this.#rawJson],
    ['metadata', this.#metadata],
    ['x_billing', this.#xBilling],
    ['notes', this.#notes],
    ...this.#items.columns,
  ];

  get eventCount(): number {
    return this.#eventCount;
  }

  get itemCount(): number {
    return this.#items.count;
  }

  /** Names of the columns, in their order. */
  get columnNames(): readonly string[] {
    return this.#columns.map(([name]) => name);
  }

  /** @throws RangeError if a column cannot hold its value; nothing of the row is added then */
  add(row: UsageEventRow): void {
    assertStorable(row);
    this.#tenantId.string(row.tenantId);
    this.#projectId.string(row.projectId);
    this.#rawEventId.fixedString(row.rawEventId);
    this.#occurredAt.uint32(row.occurredAt);
    this.#attempt.uint16(row.attempt);
    this.#corrections.uint32(row.corrections);
    this.#isReversal.uint8(row.isReversal ? 1 : 0);
    this.#correctionId.string(row.correctionId);
    this.#receivedAt.int64(row.receivedAtMs);
    this.#processedAt.int64(row.processedAtMs);
    this.#status.uint8(EVENT_STATUSES[row.status]);
    this.#posting.uint8(POSTINGS[row.posting]);
    this.#source.string(row.source);
    this.#externalEventId.string(row.externalEventId);
    this.#idempotencyKey.string(row.idempotencyKey);
    this.#subjectType.string(row.subjectType);
    this.#subjectId.string(row.subjectId);
    this.#subjectIsSent.uint8(row.subjectIsSent ? 1 : 0);
    this.#parentCounts.add(row.parents.length);
    for (const { type, id } of row.parents) {
      this.#parentTypes.string(type);
      this.#parentIds.string(id);
    }
    this.#accountId.string(row.accountId);
    this.#budgetLeaseId.string(row.budgetLeaseId);
    this.#leaseStatus.uint8(LEASE_STATUSES[row.leaseStatus]);
    this.#extractorRuleSetId.string(row.extractorRuleSetId);
    this.#extractorVersion.uint32(row.extractorVersion);
    this.#dimensionCounts.add(row.dimensions.size);
    for (const [name, value] of row.dimensions) {
      this.#dimensionNames.string(name);
      this.#dimensionValues.string(value);
    }
    this.#excludedDimensionCounts.add(row.excludedDimensions.length);
    for (const name of row.excludedDimensions) this.#excludedDimensions.string(name);
    this.#failureCode.string(row.failureCode);
    this.#failureMessage.string(row.failureMessage);
    this.#failurePath.string(row.failurePath);
    if (typeof row.rawJson === 'string') this.#rawJson.string(row.rawJson);
    else this.#rawJson.stringBytes(row.rawJson);
    this.#metadata.string(row.metadata);
    this.#xBilling.string(row.xBilling);
    this.#notes.string(row.notes);
    this.#items.add(row.items, row.itemTransactionIds);
    this.#eventCount++;
  }

  /** The added rows, in pieces: valid until `clear()` or the next row. */
  bytes(): Buffer[] {
    return nativeBlock(this.#eventCount, this.#columns);
  }

  /** Empties the block, and keeps its memory. */
  clear(): void {
    for (const [, column] of this.#columns) column.clear();
    this.#eventCount = 0;
  }
}

export const USAGE_EVENT_COLUMNS: readonly string[] = new UsageBlock().columnNames;
