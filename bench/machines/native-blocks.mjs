// Native blocks: rows go to ClickHouse by column, in its own format. Off: as JSON lines. Encoding and insert together.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { USAGE_EVENT_COLUMNS, UsageBlock } from '../../packages/service/dist/modules/usage/index.js';
import {
  applyClickHouseMigrations,
  openEmbeddedClickHouse,
} from '../../packages/service/dist/platform/clickhouse/index.js';
import {
  assignments,
  insertInto,
  insertSettings,
  literal,
} from '../../packages/service/dist/platform/clickhouse/sql.js';
import { usageRow } from '../usage-row.mjs';
import { inTurns, ownCpuPerEvent } from './measure.mjs';

const ROWS = 20_000;
const FRACTION_DIGITS = 18;

/** @returns µs per event: this process's threads, those of the embedded ClickHouse among them */
export async function measureNativeBlocks(rounds) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-machines-'));
  const clickhouse = await openEmbeddedClickHouse({ dataDir });
  const file = join(dataDir, 'rows');
  let inserts = 0;
  try {
    await applyClickHouseMigrations(clickhouse);
    const nowMs = Date.now();
    // An id of letters, because JSON has no bytes.
    const rows = Array.from({ length: ROWS }, (_, index) => ({
      ...usageRow(index, nowMs),
      rawEventId: Buffer.from(String(index).padStart(16, '0')),
    }));
    const block = new UsageBlock();
    const native = async () => {
      block.clear();
      for (const row of rows) block.add(row);
      writeFileSync(file, Buffer.concat(block.bytes()));
      await clickhouse.insertRows('usage_events', USAGE_EVENT_COLUMNS, { file }, ROWS, `native-${inserts++}`);
      return ROWS;
    };
    const lines = async () => {
      writeFileSync(file, rows.map((row) => JSON.stringify(jsonRow(row))).join('\n'));
      const settings = assignments(insertSettings(`json-${inserts++}`));
      await clickhouse.command(
        `${insertInto('usage_events', USAGE_EVENT_COLUMNS)} FROM INFILE ${literal(file)} COMPRESSION 'none' SETTINGS ${settings} FORMAT JSONEachRow`,
      );
      return ROWS;
    };
    const measured = await inTurns(
      { on: () => ownCpuPerEvent(native), off: () => ownCpuPerEvent(lines) },
      rounds,
    );
    const [{ count }] = await clickhouse.query('select count() as count from usage_events');
    if (Number(count) !== inserts * ROWS) throw new Error(`${count} rows of ${inserts * ROWS} were inserted`);
    return measured;
  } finally {
    await clickhouse.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A row as ClickHouse reads it from JSON: a member per column. */
function jsonRow(row) {
  const { items } = row;
  return {
    tenant_id: row.tenantId,
    project_id: row.projectId,
    raw_event_id: row.rawEventId.latin1Slice(),
    occurred_at: row.occurredAt,
    attempt: row.attempt,
    corrections: row.corrections,
    is_counter: row.isReversal,
    correction_id: row.correctionId,
    received_at: row.receivedAtMs,
    processed_at: row.processedAtMs,
    status: row.status,
    posting: row.posting,
    source: row.source,
    external_event_id: row.externalEventId,
    idempotency_key: row.idempotencyKey,
    subject_type: row.subjectType,
    subject_id: row.subjectId,
    'parent.type': row.parents.map(({ type }) => type),
    'parent.id': row.parents.map(({ id }) => id),
    subject_is_sent: row.subjectIsSent,
    account_id: row.accountId,
    budget_lease_id: row.budgetLeaseId,
    lease_status: row.leaseStatus,
    extractor_rule_set_id: row.extractorRuleSetId,
    extractor_version: row.extractorVersion,
    dimensions: Object.fromEntries(row.dimensions),
    raw_only: row.rawOnly,
    failure_code: row.failureCode,
    failure_message: row.failureMessage,
    failure_path: row.failurePath,
    raw_json: row.rawJson,
    metadata: row.metadata,
    x_billing: row.xBilling,
    notes: row.notes,
    'item.extractor_name': items.map((item) => item.extractorName),
    'item.metric': items.map((item) => item.metric),
    'item.unit': items.map((item) => item.unit),
    'item.currency': items.map((item) => item.currency),
    'item.quantity': items.map((item) => decimalText(item.quantity)),
    'item.unit_price': items.map((item) => decimalText(item.unitPrice)),
    'item.amount': items.map((item) => decimalText(item.amount)),
    'item.discount': items.map((item) => decimalText(item.discount)),
    'item.source': items.map((item) => item.source),
    'item.pricing_source': items.map((item) => item.pricingSource),
    'item.rule_set_id': items.map((item) => item.ruleSetId),
    'item.rule_set_version': items.map((item) => item.ruleSetVersion),
    'item.rule_name': items.map((item) => item.ruleName),
    'item.ledger_transaction_id': items.map(() => ''),
    'item.cost_amount': items.map(() => '0'),
    'item.cost_currency': items.map(() => ''),
    'item.cost_rule_set_id': items.map(() => ''),
    'item.cost_rule_set_version': items.map(() => 0),
    'item.cost_rule_name': items.map(() => ''),
  };
}

function decimalText(coefficient) {
  const digits = String(coefficient).padStart(FRACTION_DIGITS + 1, '0');
  return `${digits.slice(0, -FRACTION_DIGITS)}.${digits.slice(-FRACTION_DIGITS)}`;
}
