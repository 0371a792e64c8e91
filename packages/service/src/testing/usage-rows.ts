import { randomBytes } from 'node:crypto';
import { parseDecimal, toStored } from '../kernel/decimal.js';
import {
  USAGE_EVENT_COLUMNS,
  UsageBlock,
  type UsageEventRow,
  type UsageItemRow,
} from '../modules/usage/index.js';
import type { ClickHouse } from '../platform/clickhouse/index.js';

/** Returns a decimal as rows store it. */
export function stored(text: string): bigint {
  const decimal = parseDecimal(text);
  const value = decimal === undefined ? undefined : toStored(decimal);
  if (value === undefined) throw new RangeError(`${text} cannot be stored`);
  return value;
}

/** Returns a charge item of 10 tokens for 0.001 USD each, with the given fields. */
export function usageItem(fields: Partial<UsageItemRow> = {}): UsageItemRow {
  return {
    extractorName: 'prompt',
    metric: 'llm.tokens',
    unit: 'token',
    currency: 'USD',
    quantity: stored('10'),
    unitPrice: stored('0.001'),
    amount: stored('0.01'),
    discount: 0n,
    source: 'extractor',
    pricingSource: 'extractor',
    ruleSetId: '',
    ruleSetVersion: 0,
    ruleName: '',
    cumulative: '',
    cost: null,
    ...fields,
  };
}

/** Returns a processed event with one charge item and a random id, with the given fields. */
export function usageRow(
  fields: Partial<Omit<UsageEventRow, 'rawEventId'>> & { readonly id?: string } = {},
): UsageEventRow {
  const { id, ...rest } = fields;
  const occurredAt = fields.occurredAt ?? 1_750_000_000;
  const hex = id ?? occurredAt.toString(16).padStart(8, '0') + randomBytes(12).toString('hex');
  return {
    tenantId: 'ten_1',
    projectId: 'prj_1',
    rawEventId: Buffer.from(hex, 'hex'),
    occurredAt,
    attempt: 0,
    corrections: 0,
    isReversal: false,
    correctionId: '',
    receivedAtMs: occurredAt * 1000 + 1,
    processedAtMs: occurredAt * 1000 + 2,
    status: 'processed',
    posting: 'unrouted',
    source: 'gateway',
    externalEventId: '',
    idempotencyKey: '',
    subjectType: '',
    subjectId: '',
    parents: [],
    subjectIsSent: false,
    accountId: '',
    budgetLeaseId: '',
    leaseStatus: 'none',
    extractorRuleSetId: 'ers_1',
    extractorVersion: 1,
    dimensions: new Map(),
    excludedDimensions: [],
    failureCode: '',
    failureMessage: '',
    failurePath: '',
    rawJson: '{}',
    metadata: '',
    xBilling: '',
    notes: '',
    items: [usageItem()],
    itemTransactionIds: [],
    ...rest,
  };
}

/** A failed event has no charge items. */
export function failedRow(fields: Parameters<typeof usageRow>[0] = {}): UsageEventRow {
  return usageRow({
    status: 'failed',
    posting: 'none',
    failureCode: 'dimension_missing',
    failureMessage: 'dimension model is missing',
    failurePath: 'dimensions[0]',
    items: [],
    ...fields,
  });
}

/** The 32 hex digits of a row's id. */
export function idOf(row: UsageEventRow): string {
  return Buffer.from(row.rawEventId).toString('hex');
}

/** Puts rows into `usage_events`, or another table of its kind, and so into its rollup, as the projector does. */
export async function insertUsageRows(
  clickhouse: Pick<ClickHouse, 'insertRows'>,
  rows: readonly UsageEventRow[],
  table = 'usage_events',
): Promise<void> {
  const block = new UsageBlock();
  for (const row of rows) block.add(row);
  const token = randomBytes(8).toString('hex');
  const data = { bytes: block.bytes() };
  await clickhouse.insertRows(table, USAGE_EVENT_COLUMNS, data, rows.length, token);
}
