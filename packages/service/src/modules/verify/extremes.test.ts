import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLog } from '../../platform/log/index.js';
import {
  correctedRows,
  createProject,
  createTestClickHouse,
  createTestPostgres,
  insertCorrections,
  insertUsageRows,
  stored,
  type TestClickHouse,
  type TestPostgres,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { storageTables } from '../storage/index.js';
import { differingDays } from './differing-days.js';
import { verifyUsage } from './index.js';

const DAY = 20_254;

let house: TestClickHouse;
let store: TestPostgres;
beforeAll(async () => {
  [house, store] = await Promise.all([createTestClickHouse(), createTestPostgres()]);
});
afterAll(async () => {
  await Promise.all([house.drop(), store.drop()]);
});
beforeEach(async () => {
  for (const table of ['usage_events', 'usage_rollup'])
    await house.clickhouse.command(`TRUNCATE TABLE ${table}`);
  await insertUsageRows(house.clickhouse, ROWS);
  const remainder = usageItem({ quantity: 0n, source: 'correction' });
  const items = [usageItem({ quantity: stored('4') }), remainder];
  await insertCorrections(house.clickhouse, [correctedRows(CORRECTED, { items })]);
});

const rowOf = (model: string, minute: number, ...quantities: string[]) =>
  usageRow({
    occurredAt: DAY * 86_400 + minute * 60 + 30,
    dimensions: new Map([
      ['model', model],
      ['session', String(minute)],
    ]),
    excludedDimensions: ['session'],
    items: quantities.map((quantity) => usageItem({ quantity: stored(quantity) })),
  });
const CORRECTED = rowOf('c', 0, '5');
const ROWS = [
  rowOf('a', 0, '3', '2'),
  rowOf('a', 0, '2.000000000000000001'),
  rowOf('a', 20, '6'),
  rowOf('b', 0, '0', '9'),
  CORRECTED,
];

const change = (what: string, where: string) =>
  house.clickhouse.command(
    `ALTER TABLE usage_rollup UPDATE ${what} WHERE ${where} SETTINGS mutations_sync = 2`,
  );

/** Returns what a verification says of minimum and maximum; the rows have no totals in PostgreSQL. */
async function differences(): Promise<string[]> {
  const { clickhouse } = house;
  const report = await verifyUsage({
    ...{ postgres: store.postgres, clickhouse },
    log: createLog({ level: 'silent' }),
  });
  return report.differences
    .filter(({ measure }) => measure === 'minimum' || measure === 'maximum')
    .map((each) => `${each.day} ${each.store} ${each.measure} ${each.expected} ${each.found}`);
}

const NOTHING_ELSE = `dimensions['model'] = 'a' AND bucket = ${DAY * 86_400}`;

it.each([
  [
    'a maximum that another row exceeds',
    'maximum = maximum + 1e-18::Decimal(38, 18)',
    `resolution = 60 AND ${NOTHING_ELSE}`,
    'usage_rollup_1m maximum 3 3.000000000000000001',
  ],
  [
    'a minimum that is too large',
    'minimum = minimum + 1e-18::Decimal(38, 18)',
    `resolution = 900 AND ${NOTHING_ELSE}`,
    'usage_rollup_15m minimum 2 2.000000000000000001',
  ],
  [
    'a minimum that is missing, where it is zero',
    'minimum = NULL',
    "resolution = 3600 AND dimensions['model'] = 'b'",
    'usage_rollup_1h minimum 0 -1',
  ],
  [
    'a minimum of a row with a corrected charge item',
    'minimum = 1',
    "resolution = 60 AND dimensions['model'] = 'c'",
    'usage_rollup_1m minimum 4 1',
  ],
])('%s is found', async (_, what, where, difference) => {
  expect(await differences()).toEqual([]);
  await change(what, where);
  expect(await differences()).toEqual([`2025-06-15 ${difference}`]);
});

it('rows of former releases, whose quantities were not compared, have no minimum and maximum', async () => {
  await change('minimum = NULL, maximum = NULL, compared_item_count = 0', 'bucket < now()');
  expect(await differences()).toEqual([]);
});

it('the days of a project with dedicated tables are compared in these, to be repaired', async () => {
  const { projectId, projectNo } = await createProject(store.postgres, 'ten_1', 'prj_own', 'dedicated');
  const { events, rollup } = storageTables({ storage: 'dedicated', projectNo });
  await house.provision(projectNo);
  await house.clickhouse.command('TRUNCATE TABLE usage_events');
  await house.clickhouse.command('TRUNCATE TABLE usage_rollup');
  await insertUsageRows(house.clickhouse, [{ ...rowOf('a', 0, '10'), projectId }], events);
  const { db } = store.postgres;
  await sql`insert into usage_event_totals values ('ten_1', ${projectId}, ${DAY}, 1, 0, 0)`.execute(db);
  await sql`insert into usage_totals values
    ('ten_1', ${projectId}, ${DAY}, 'llm.tokens', 'token', 'USD', 1, 10, 0.01)`.execute(db);
  const stores = { postgres: store.postgres, clickhouse: house.clickhouse };
  expect(await differingDays(stores)).toEqual([]);
  await house.clickhouse.command(
    `ALTER TABLE ${rollup} UPDATE maximum = 9 WHERE resolution = 900 SETTINGS mutations_sync = 2`,
  );
  expect(await differingDays(stores)).toEqual([{ projectId, firstDay: DAY, lastDay: DAY }]);
});
