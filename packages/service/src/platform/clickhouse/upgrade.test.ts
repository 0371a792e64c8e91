import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { readMigrations } from '../migration-files.js';
import { createTableCopy } from './copy.js';
import { applyClickHouseMigrations } from './migrate.js';
import { USAGE_ROW_COLUMNS, usageRows } from './usage-row.testing.js';

const TABLES = ['usage_events', 'usage_events_7'];

let store: TestClickHouse;
beforeAll(async () => {
  store = await createTestClickHouse();
});
afterAll(() => store.drop());

function insert(table: string, id: number, columns: readonly string[]): Promise<void> {
  const bytes = usageRows([{ id, occurredAt: 1_769_903_400, metrics: ['a'] }]);
  return store.clickhouse.insertRows(table, columns, { bytes }, 1, `token-${id}`);
}

test('events from before notes were kept have none, in shared and dedicated tables, and spooled rows still fit', async () => {
  const { clickhouse } = store;
  await createTableCopy(clickhouse, '_7');
  for (const table of TABLES) {
    await clickhouse.command(`ALTER TABLE ${table} DROP COLUMN notes`);
    await insert(table, 1, USAGE_ROW_COLUMNS);
  }
  await clickhouse.command('TRUNCATE TABLE schema_migrations');
  const [first, ...others] = readMigrations('clickhouse');
  await applyClickHouseMigrations(clickhouse, first === undefined ? [] : [first]);
  expect(await applyClickHouseMigrations(clickhouse, undefined, ['_7'])).toEqual(
    others.map(({ name }) => name),
  );
  for (const table of TABLES) {
    // Blocks that were written before lack the column that the insert names.
    await insert(table, 2, [...USAGE_ROW_COLUMNS, 'notes']);
    expect(await clickhouse.query(`SELECT notes FROM ${table}`)).toEqual([{ notes: '' }, { notes: '' }]);
  }
});
