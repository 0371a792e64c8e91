import { afterAll, beforeAll, expect, it } from 'vitest';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  createTestClickHouse,
  failedRow,
  idOf,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { ProjectHistory } from '../storage/index.js';
import { firstRevisions, reversalRow, revisionRows, type UsageEventRow } from './index.js';

let store: TestClickHouse;
beforeAll(async () => {
  store = await createTestClickHouse();
});
afterAll(() => store.drop());

const historyOf = (retainedFrom = 0) => new ProjectHistory(store.clickhouse, { ...TEST_SCOPE, retainedFrom });

/** JSON is read as bytes. */
function asRead(row: UsageEventRow): UsageEventRow {
  return { ...row, rawJson: Buffer.from(row.rawJson) };
}

/** Each field has a value of its own. */
const rich = usageRow({
  attempt: 1,
  corrections: 2,
  correctionId: 'cor_1',
  posting: 'posted',
  source: 'batch',
  externalEventId: 'ext-1',
  idempotencyKey: 'key-1',
  subjectType: 'user',
  subjectId: 'ada',
  parents: [
    { type: 'team', id: 'core' },
    { type: 'org', id: 'acme' },
  ],
  subjectIsSent: true,
  accountId: 'acct_1',
  budgetLeaseId: 'bl_1',
  leaseStatus: 'applied',
  extractorRuleSetId: 'ers_2',
  extractorVersion: 3,
  dimensions: new Map([
    ['model', 'aurora'],
    ['région', 'é'],
  ]),
  excludedDimensions: ['model'],
  rawJson: Buffer.from('{"n": 1.0, "text": "ä"}'),
  metadata: '{"m":1}',
  xBilling: '{"items":[]}',
  notes: '[{"code":"quantity_clamped"}]',
  items: [
    usageItem({
      extractorName: 'out',
      metric: 'llm.out',
      unit: 'call',
      currency: 'EUR',
      quantity: -stored('3.5'),
      unitPrice: null,
      amount: -stored('99999999999999999999.999999999999999999'),
      discount: stored('0.25'),
      source: 'x_billing',
      pricingSource: 'pricing_rule_set',
      ruleSetId: 'prs_1',
      ruleSetVersion: 4,
      ruleName: 'tiers',
      cumulative: '{"period_start":1}',
      cost: { amount: -1n, currency: 'USD', ruleSetId: 'prs_2', ruleSetVersion: 5, ruleName: 'costs' },
    }),
    usageItem(),
  ],
  itemTransactionIds: ['led_1', ''],
});

it('returns each field as it was written', async () => {
  const failed = failedRow({ failureMessage: 'no model' });
  const plain = usageRow({ items: [], rawJson: '' });
  await insertUsageRows(store.clickhouse, [rich, failed, plain]);
  const found = await revisionRows(historyOf(), [rich, failed, plain].map(idOf));
  expect([...found.ids()].sort()).toEqual([rich, failed, plain].map(idOf).sort());
  for (const row of [rich, failed, plain]) expect(found.of(idOf(row))).toEqual([asRead(row)]);
});

it('returns the last attempt of each revision, oldest revision first, and no reversal row', async () => {
  const event = usageRow();
  const id = idOf(event);
  const revision = (corrections: number, attempt: number) => usageRow({ id, corrections, attempt });
  const written = { correctionId: 'cor_1', processedAtMs: 1, itemTransactionIds: [] };
  // In parts of their own, as long as nothing is merged.
  for (const row of [revision(2, 1), revision(0, 1), event, reversalRow(event, written), revision(1, 1)])
    await insertUsageRows(store.clickhouse, [row]);
  const found = await revisionRows(historyOf(), [id]);
  const rows = found.of(id) ?? [];
  expect(found.latest(id)).toEqual(rows[2]);
  expect(found.correctionsOf(id)).toBe(2);
  expect(rows.map(({ corrections, attempt }) => [corrections, attempt])).toEqual([
    [0, 1],
    [1, 1],
    [2, 1],
  ]);
});

it('leaves the JSON empty where it is not asked for, and reads the rest', async () => {
  const row = usageRow({ rawJson: '{"model":"a"}' });
  await insertUsageRows(store.clickhouse, [row]);
  const bounds = { bytesMax: 1_000, idsMin: 1, withoutJson: true };
  const { revisions } = await firstRevisions(historyOf(), [idOf(row)], bounds);
  expect(revisions.of(idOf(row))).toEqual([asRead({ ...row, rawJson: '' })]);
  expect(revisions.jsonBytesOf(idOf(row))).toBe(13);
});

it('leaves out events of other projects, and those that are not kept', async () => {
  const [foreign, old, kept] = [
    usageRow({ projectId: 'prj_2' }),
    usageRow({ occurredAt: 1_750_000_000 }),
    usageRow({ occurredAt: 1_750_000_001 }),
  ];
  await insertUsageRows(store.clickhouse, [foreign, old, kept]);
  const found = await revisionRows(historyOf(1_750_000_001), [foreign, old, kept].map(idOf));
  expect([...found.ids()]).toEqual([idOf(kept)]);
  expect(found.of(idOf(old))).toBeUndefined();
  expect(found.latest(idOf(old))).toBeUndefined();
  expect((await revisionRows(historyOf(), [])).size).toBe(0);
});

it('reads as many events as fit, and at least those that are needed', async () => {
  const rows = Array.from({ length: 600 }, () => usageRow({ rawJson: 'x'.repeat(1_000) }));
  await insertUsageRows(store.clickhouse, rows);
  const ids = rows.map(idOf);
  const read = async (bytesMax: number, idsMin: number) => {
    const { revisions, idCount } = await firstRevisions(historyOf(), ids, { bytesMax, idsMin });
    expect([...revisions.ids()].sort()).toEqual(ids.slice(0, idCount).sort());
    return idCount;
  };
  expect(await read(10_000_000, 1)).toBe(600);
  expect(await read(1, 1)).toBe(1);
  const few = await read(100_000, 1);
  expect(few).toBeGreaterThan(20);
  expect(few).toBeLessThan(100);
  const needed = await read(100_000, 300);
  expect(needed).toBeGreaterThanOrEqual(300);
  expect(needed).toBeLessThan(400);
  const some = await read(800_000, 1);
  expect(some).toBeGreaterThan(500);
  expect(some).toBeLessThan(600);
});
