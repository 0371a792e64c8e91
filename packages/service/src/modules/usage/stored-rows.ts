import { parseDecimal, toStored } from '../../kernel/decimal.js';
import type { ProjectHistory } from '../storage/index.js';
import { EVENT_COLUMNS, REVISIONS_BY_IDS, type StoredEventDetail } from './event-store.js';
import { nestedValue } from './event-view.js';
import type { ItemCostRow, UsageEventRow, UsageItemRow } from './row.js';

/** Everything that a row of `usage_events` says, as ClickHouse returns it. */
interface StoredRow extends StoredEventDetail {
  readonly raw_only: readonly string[];
  readonly parent_types: readonly string[];
  readonly parent_ids: readonly string[];
  readonly attempt: number;
  readonly received_ms: string;
  readonly processed_ms: string;
  readonly corrections: number;
  readonly correction_id: string;
}

const ROW_COLUMNS = `${EVENT_COLUMNS}, raw_json, metadata, x_billing, subject_is_sent, raw_only, attempt,
  parent.type AS parent_types, parent.id AS parent_ids,
  toUnixTimestamp64Milli(received_at) AS received_ms, toUnixTimestamp64Milli(processed_at) AS processed_ms,
  corrections, correction_id`;

/**
 * Returns the rows of all revisions of events, oldest first for each event. Events that the project does not have, or
 * does not keep, have none.
 *
 * @param ids 32 hex digits each
 */
export async function revisionRows(
  history: ProjectHistory,
  ids: readonly string[],
): Promise<UsageEventRow[]> {
  const rows = await history.query<StoredRow>(
    `SELECT ${ROW_COLUMNS} FROM ${history.tables.events} WHERE ${REVISIONS_BY_IDS}
     ORDER BY occurred_at, raw_event_id, corrections, attempt DESC LIMIT 1 BY raw_event_id, corrections`,
    { ids },
  );
  const { tenantId, projectId } = history.scope;
  return rows.map((row) => rowOf(tenantId, projectId, row));
}

function rowOf(tenantId: string, projectId: string, row: StoredRow): UsageEventRow {
  return {
    tenantId,
    projectId,
    rawEventId: Buffer.from(row.id, 'hex'),
    occurredAt: row.occurred_at_s,
    attempt: row.attempt,
    corrections: row.corrections,
    isCounter: false,
    correctionId: row.correction_id,
    receivedAtMs: Number(row.received_ms),
    processedAtMs: Number(row.processed_ms),
    status: row.status,
    posting: row.posting,
    source: row.source,
    externalEventId: row.external_event_id,
    idempotencyKey: row.idempotency_key,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    parents: row.parent_types.map((type, index) => ({ type, id: nestedValue(row.parent_ids, index) })),
    subjectIsSent: row.subject_is_sent,
    accountId: row.account_id,
    budgetLeaseId: row.budget_lease_id,
    leaseStatus: row.lease_status,
    extractorRuleSetId: row.extractor_rule_set_id,
    extractorVersion: row.extractor_version,
    dimensions: new Map(Object.entries(row.dimensions)),
    excludedDimensions: row.raw_only,
    failureCode: row.failure_code,
    failureMessage: row.failure_message,
    failurePath: row.failure_path,
    rawJson: row.raw_json,
    metadata: row.metadata,
    xBilling: row.x_billing,
    notes: row.notes,
    items: row.item_metric.map((_, index) => itemOf(row, index)),
    itemTransactionIds: row.item_ledger_transaction_id.some((id) => id !== '')
      ? row.item_ledger_transaction_id
      : [],
  };
}

function itemOf(row: StoredRow, index: number): UsageItemRow {
  const unitPrice = nestedValue(row.item_unit_price, index);
  return {
    extractorName: nestedValue(row.item_extractor_name, index),
    metric: nestedValue(row.item_metric, index),
    unit: nestedValue(row.item_unit, index),
    currency: nestedValue(row.item_currency, index),
    quantity: storedCoefficient(nestedValue(row.item_quantity, index)),
    unitPrice: unitPrice === null ? null : storedCoefficient(unitPrice),
    amount: storedCoefficient(nestedValue(row.item_amount, index)),
    discount: storedCoefficient(nestedValue(row.item_discount, index)),
    source: nestedValue(row.item_source, index),
    pricingSource: nestedValue(row.item_pricing_source, index),
    ruleSetId: nestedValue(row.item_rule_set_id, index),
    ruleSetVersion: nestedValue(row.item_rule_set_version, index),
    ruleName: nestedValue(row.item_rule_name, index),
    cumulative: nestedValue(row.item_cumulative, index),
    cost: costOf(row, index),
  };
}

function costOf(row: StoredRow, index: number): ItemCostRow | null {
  const currency = nestedValue(row.item_cost_currency, index);
  if (currency === '') return null;
  return {
    amount: storedCoefficient(nestedValue(row.item_cost_amount, index)),
    currency,
    ruleSetId: nestedValue(row.item_cost_rule_set_id, index),
    ruleSetVersion: nestedValue(row.item_cost_rule_set_version, index),
    ruleName: nestedValue(row.item_cost_rule_name, index),
  };
}

/** @throws Error for text that is not a stored decimal: a missing value must not become zero */
export function storedCoefficient(text: string): bigint {
  const decimal = parseDecimal(text);
  const stored = decimal === undefined ? undefined : toStored(decimal);
  if (stored === undefined) throw new Error(`ClickHouse returned ${text} for a decimal`);
  return stored;
}
