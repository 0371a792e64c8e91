// Floor: rows of usage_events, encoded once, inserted over and over into the embedded ClickHouse, rollups included.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { USAGE_EVENT_COLUMNS, UsageBlock } from '../../packages/service/dist/modules/usage/index.js';
import {
  applyClickHouseMigrations,
  openEmbeddedClickHouse,
} from '../../packages/service/dist/platform/clickhouse/index.js';
import { RULE_SET, SUBJECTS, singleBody } from '../events.mjs';

const ROWS = 20_000;
const RULE_SET_ID = 'ers_00000000000000000000000000000000';

/** Returns the row that rating produces for one benchmark event. */
function row(index, nowMs) {
  const rawJson = JSON.stringify(JSON.parse(singleBody(index, 'floor')).raw_json);
  const { model, region, usage } = JSON.parse(rawJson);
  const rawEventId = Buffer.alloc(16);
  rawEventId.writeUInt32BE(Math.floor(nowMs / 1000));
  rawEventId.writeUInt32BE(index, 12);
  const quantities = [usage.prompt_tokens, usage.completion_tokens];
  return {
    tenantId: 'ten_floor',
    projectId: 'prj_floor',
    rawEventId,
    occurredAt: Math.floor(nowMs / 1000),
    attempt: 0,
    receivedAtMs: nowMs,
    processedAtMs: nowMs,
    status: 'processed',
    posting: 'unrouted',
    source: 'bench',
    externalEventId: '',
    idempotencyKey: `floor-${String(index).padStart(12, '0')}`,
    subjectType: 'user',
    subjectId: `user-${index % SUBJECTS}`,
    subjectIsSent: true,
    accountId: '',
    budgetLeaseId: '',
    leaseStatus: 'none',
    extractorRuleSetId: RULE_SET_ID,
    extractorVersion: 1,
    excludedDimensions: [],
    dimensions: new Map([
      ['model', model],
      ['region', region],
    ]),
    failureCode: '',
    failureMessage: '',
    failurePath: '',
    rawJson,
    metadata: '',
    xBilling: '',
    notes: '',
    itemTransactionIds: [],
    items: RULE_SET.charge_item_extractors.map(({ name, metric, unit, currency }, item) => ({
      extractorName: name,
      metric,
      unit,
      currency,
      quantity: BigInt(quantities[item]) * 10n ** 18n,
      unitPrice: 2_500_000_000_000n,
      amount: BigInt(quantities[item]) * 2_500_000_000_000n,
      discount: 0n,
      source: 'extractor',
      pricingSource: 'extractor',
      ruleSetId: RULE_SET_ID,
      ruleSetVersion: 1,
      ruleName: name,
    })),
  };
}

process.once('message', async ({ seconds }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-clickhouse-'));
  const clickhouse = await openEmbeddedClickHouse({ dataDir });
  try {
    await applyClickHouseMigrations(clickhouse);
    const block = new UsageBlock();
    for (let index = 0; index < ROWS; index += 1) block.add(row(index, Date.now()));
    const file = join(dataDir, 'rows.bin');
    writeFileSync(file, Buffer.concat(block.bytes()));
    const startMs = performance.now();
    let inserts = 0;
    while (performance.now() < startMs + seconds * 1000) {
      inserts += 1;
      await clickhouse.insertRows('usage_events', USAGE_EVENT_COLUMNS, { file }, ROWS, `floor-${inserts}`);
    }
    process.send({ eventsPerSecond: (inserts * ROWS * 1000) / (performance.now() - startMs) });
  } finally {
    await clickhouse.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.exit(0);
});
