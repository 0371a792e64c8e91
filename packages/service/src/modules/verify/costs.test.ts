import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../platform/log/index.js';
import {
  createProject,
  createTestClickHouse,
  createTestPostgres,
  idOf,
  insertUsageRows,
  stored,
  type TestClickHouse,
  type TestPostgres,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { verifyUsage } from './index.js';

const DAY = 20_254;

let house: TestClickHouse;
let store: TestPostgres;
beforeAll(async () => {
  [house, store] = await Promise.all([createTestClickHouse(), createTestPostgres()]);
  await recordEvent();
});
afterAll(async () => {
  await Promise.all([house.drop(), store.drop()]);
});

const costOf = (currency: string) => ({
  ...{ amount: stored('0.004'), currency },
  ...{ ruleSetId: 'prs_cost', ruleSetVersion: 1, ruleName: 'a' },
});

/** Stores an event with two charge items in both stores: one has a cost in the currency of its price. */
async function recordEvent(): Promise<void> {
  const row = usageRow({
    occurredAt: DAY * 86_400,
    items: [usageItem({ cost: costOf('USD') }), usageItem({ cost: costOf('EUR') })],
  });
  const { db } = store.postgres;
  const { projectNo } = await createProject(store.postgres, 'ten_1', 'prj_1');
  await sql`insert into usage_event_ids values (${projectNo}, ${idOf(row)}::uuid)`.execute(db);
  await sql`insert into usage_event_totals values ('ten_1', 'prj_1', ${DAY}, 1, 0, 0)`.execute(db);
  await sql`
    insert into usage_totals values
      ('ten_1', 'prj_1', ${DAY}, 'llm.tokens', 'token', 'USD', 2, 20, 0.02, 0.004, 1),
      ('ten_1', 'prj_1', ${DAY}, 'llm.tokens', 'token', 'EUR', 0, 0, 0, 0.004, 1)
  `.execute(db);
  await insertUsageRows(house.clickhouse, [row]);
}

async function differences(): Promise<unknown[]> {
  const { clickhouse } = house;
  const report = await verifyUsage({
    ...{ postgres: store.postgres, clickhouse },
    log: createLog({ level: 'silent' }),
  });
  return report.differences.map(({ store: place, currency, measure, expected, found }) => [
    ...[place, currency, measure, expected, found],
  ]);
}

it('recounts costs in the row of their own currency, in each store', async () => {
  expect(await differences()).toEqual([]);
  for (const change of [
    "usage_rollup UPDATE cost = cost + 1 WHERE resolution = 900 AND currency = 'EUR'",
    "usage_rollup UPDATE cost_count = cost_count + 1 WHERE resolution = 60 AND currency = 'EUR'",
    'usage_events UPDATE `item.cost_amount` = [0, 0] WHERE true',
  ])
    await house.clickhouse.command(`ALTER TABLE ${change} SETTINGS mutations_sync = 2`);
  const found = await differences();
  expect(found).toHaveLength(4);
  expect(found).toEqual(
    expect.arrayContaining([
      ['usage_events', 'EUR', 'cost', '0.004', '0'],
      ['usage_events', 'USD', 'cost', '0.004', '0'],
      ['usage_rollup_1m', 'EUR', 'cost_count', '1', '2'],
      ['usage_rollup_15m', 'EUR', 'cost', '0.004', '1.004'],
    ]),
  );
});
