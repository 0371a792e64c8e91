import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '../../platform/log/index.js';
import {
  correctedRows,
  createProject,
  createTestClickHouse,
  createTestPostgres,
  idOf,
  insertCorrections,
  insertUsageRows,
  stored,
  type TestClickHouse,
  type TestPostgres,
  usageItem,
  usageRow,
  voidedRows,
} from '../../testing/index.js';
import { readFound } from './history-store.js';
import { verifyUsage } from './index.js';
import { readPostedSums } from './posting-history-store.js';

const DAY = 20_254;
const AT_S = DAY * 86_400;

let house: TestClickHouse;
let store: TestPostgres;
beforeEach(async () => {
  [house, store] = await Promise.all([createTestClickHouse(), createTestPostgres()]);
});
afterEach(async () => {
  await Promise.all([house.drop(), store.drop()]);
});

const row = usageRow({
  ...{ occurredAt: AT_S, posting: 'posted', accountId: 'acct_1', itemTransactionIds: ['led_1'] },
  items: [usageItem({ pricingSource: 'unpriced' })],
});
const anew = correctedRows(row, {
  items: [usageItem({ quantity: stored('20'), amount: stored('0.03') })],
  itemTransactionIds: ['led_2'],
});

const verify = (clickhouse: Pick<TestClickHouse['clickhouse'], 'upToDate'>) =>
  verifyUsage({
    ...{ postgres: store.postgres, clickhouse },
    log: createLog({ level: 'silent' }),
  });

/** Records in PostgreSQL that the event was rated anew. */
async function recordTotals(): Promise<void> {
  const { db } = store.postgres;
  const { projectNo } = await createProject(store.postgres, 'ten_1', 'prj_1');
  await sql`insert into usage_event_ids values (${projectNo}, ${idOf(row)}::uuid)`.execute(db);
  await sql`
    insert into usage_event_totals (tenant_id, project_id, day, processed_count, failed_count, unpriced_count,
      correction_count)
    values ('ten_1', 'prj_1', ${DAY}, 1, 0, 0, 1)
  `.execute(db);
  await sql`insert into usage_event_revisions values ('ten_1', 'prj_1', ${idOf(row)}::uuid, 2, 'cor_1')`.execute(
    db,
  );
  await sql`
    insert into usage_totals values ('ten_1', 'prj_1', ${DAY}, 'llm.tokens', 'token', 'USD', 1, 20, 0.03)
  `.execute(db);
}

const usageDifferences = async (
  clickhouse: Pick<TestClickHouse['clickhouse'], 'upToDate'> = house.clickhouse,
) =>
  (await verify(clickhouse)).differences.map(({ store: where, measure, expected, found }) => [
    where,
    measure,
    expected,
    found,
  ]);

it('counts corrected events once, with the sums of their last revision', async () => {
  await recordTotals();
  await insertUsageRows(house.clickhouse, [row]);
  await insertCorrections(house.clickhouse, [anew]);
  expect(await usageDifferences()).toEqual([]);
});

it('finds a reversal row that is missing, in the events and in each resolution', async () => {
  await recordTotals();
  await insertUsageRows(house.clickhouse, [row, anew.next]);
  const found = await usageDifferences();
  for (const table of ['usage_events', 'usage_rollup_1m', 'usage_rollup_15m', 'usage_rollup_1h'])
    expect(found).toEqual(
      expect.arrayContaining([
        [table, 'item_count', '1', '2'],
        [table, 'quantity', '20', '30'],
        [table, 'amount', '0.03', '0.04'],
      ]),
    );
  expect(found).toContainEqual(['usage_events', 'processed_count', '1', '2']);
  expect(found).toContainEqual(['usage_events', 'unpriced_count', '0', '1']);
});

it('finds a reversal row that was deleted, in the events alone', async () => {
  await recordTotals();
  await insertUsageRows(house.clickhouse, [row]);
  await insertCorrections(house.clickhouse, [anew]);
  await house.clickhouse.command(
    'ALTER TABLE usage_events DELETE WHERE is_counter SETTINGS mutations_sync = 2',
  );
  expect(new Set((await usageDifferences()).map(([where]) => where))).toEqual(new Set(['usage_events']));
});

it('finds a revision that is missing', async () => {
  await recordTotals();
  await insertUsageRows(house.clickhouse, [row, anew.reversal]);
  expect(await usageDifferences()).toContainEqual(['usage_rollup_1h', 'item_count', '1', '0']);
});

it('counts voided events apart, and none of their former status', async () => {
  const voided = usageRow({ occurredAt: AT_S });
  await insertUsageRows(house.clickhouse, [voided, row]);
  await insertCorrections(house.clickhouse, [voidedRows(voided), anew]);
  const { events } = await readFound(house.clickhouse, [], { from: DAY, to: DAY + 1 });
  expect(events.map(({ measure, value }) => [measure, value])).toEqual([
    ['processed_count', '1'],
    ['failed_count', '0'],
    ['voided_count', '1'],
    ['unpriced_count', '0'],
    ['correction_count', '2'],
  ]);
});

it('notices a correction that is reverted between its readings', async () => {
  await recordTotals();
  const isCorrectedBy = (corrections: number) =>
    sql`with total as (update usage_event_totals set correction_count = ${corrections})
      update usage_event_revisions set revision = ${corrections + 1}`.execute(store.postgres.db);
  await insertUsageRows(house.clickhouse, [row]);
  await insertCorrections(house.clickhouse, [anew]);
  const voided = voidedRows(anew.next);
  const { items, status, posting, accountId } = anew.next;
  const revived = correctedRows(voided.next, { items, status, posting, accountId });
  let readings = 0;
  const clickhouse: Pick<TestClickHouse['clickhouse'], 'upToDate'> = {
    upToDate: async (tables) => {
      readings++;
      // The first reading lists days. The second one finds the void, and the totals of its revert follow.
      if (readings === 2) await insertCorrections(house.clickhouse, [voided]);
      if (readings === 2) await isCorrectedBy(3);
      if (readings === 3) await insertCorrections(house.clickhouse, [revived]);
      return house.clickhouse.upToDate(tables);
    },
  };
  expect(await usageDifferences(clickhouse)).toEqual([]);
  expect(readings).toBeGreaterThan(2);
});

it('finds a correction and its revert of which there are no rows', async () => {
  await recordTotals();
  await insertUsageRows(house.clickhouse, [anew.next]);
  expect(await usageDifferences()).toEqual([['usage_events', 'correction_count', '1', '0']]);
});

it('finds a revision that PostgreSQL does not know', async () => {
  await recordTotals();
  await insertUsageRows(house.clickhouse, [row]);
  await insertCorrections(house.clickhouse, [anew]);
  await sql`delete from usage_event_revisions`.execute(store.postgres.db);
  expect(await usageDifferences()).toEqual([['usage_event_revisions', 'correction_count', '1', '0']]);
});

it('finds what usage and corrections have posted, by the time of each', async () => {
  await insertUsageRows(house.clickhouse, [row]);
  await insertCorrections(house.clickhouse, [anew]);
  const sumUpTo = async (upToMs: number) => {
    const sums = await readPostedSums(house.clickhouse, [], upToMs);
    return sums.map(({ accountId, amount }) => [accountId, amount]);
  };
  expect(await sumUpTo(row.processedAtMs - 1)).toEqual([]);
  expect(await sumUpTo(row.processedAtMs)).toEqual([['acct_1', '0.01']]);
  expect(await sumUpTo(anew.next.processedAtMs)).toEqual([['acct_1', '0.03']]);
});
