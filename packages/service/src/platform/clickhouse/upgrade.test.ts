import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { readMigrations } from '../migration-files.js';
import { createTableCopy, incompleteCopies } from './copy.js';
import { applyClickHouseMigrations } from './migrate.js';
import { outdatedViews } from './replaced-views.js';
import { renamed, statementsOf, tablesOf } from './statements.js';
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

/** Takes the tables back to the schema after the first migrations, and the record with them. */
async function downgrade({ clickhouse }: TestClickHouse, versions: number): Promise<void> {
  for (const suffix of ['', '_7']) {
    for (const view of [
      'usage_rollup_view',
      'usage_counter_view',
      'usage_cost_view',
      'usage_correction_view',
    ])
      await clickhouse.command(`DROP VIEW IF EXISTS ${view}${suffix} SYNC`);
    for (const table of ['usage_events', 'usage_rollup'])
      await clickhouse.command(`DROP TABLE IF EXISTS ${table}${suffix} SYNC`);
  }
  await clickhouse.command('TRUNCATE TABLE schema_migrations');
  await applyClickHouseMigrations(clickhouse, readMigrations('clickhouse').slice(0, versions));
  const tables = tablesOf(readMigrations('clickhouse'));
  for (const migration of readMigrations('clickhouse').slice(0, versions))
    for (const statement of statementsOf(migration))
      await clickhouse.command(renamed(statement, tables, '_7'));
}

const MIGRATIONS = readMigrations('clickhouse').map(({ name }) => name);

test('events from before notes were kept have none, in shared and dedicated tables, and spooled rows still fit', async () => {
  const { clickhouse } = store;
  await downgrade(store, 1);
  for (const table of TABLES) await insert(table, 1, USAGE_ROW_COLUMNS);
  expect(await applyClickHouseMigrations(clickhouse, undefined, ['_7'])).toEqual(MIGRATIONS.slice(1));
  for (const table of TABLES) {
    // Blocks that were written before lack the column that the insert names.
    await insert(table, 2, [...USAGE_ROW_COLUMNS, 'notes']);
    expect(await clickhouse.query(`SELECT notes FROM ${table}`)).toEqual([{ notes: '' }, { notes: '' }]);
  }
});

test('events from before corrections are their first revision, in shared and dedicated tables', async () => {
  const { clickhouse } = store;
  await downgrade(store, 3);
  for (const table of TABLES) await insert(table, 1, USAGE_ROW_COLUMNS);
  expect(await applyClickHouseMigrations(clickhouse, undefined, ['_7'])).toEqual(MIGRATIONS.slice(3));
  for (const table of TABLES) {
    await insert(table, 1, USAGE_ROW_COLUMNS);
    await insert(table, 2, [...USAGE_ROW_COLUMNS, 'corrections', 'is_counter', 'correction_id']);
    const columns = 'corrections, is_counter, correction_id';
    const first = { corrections: 0, is_counter: false, correction_id: '' };
    expect(await clickhouse.query(`SELECT ${columns} FROM ${table}`)).toEqual([first, first]);
  }
});

test('keeps each revision and its reversal row in merged parts, also beside parts from before corrections', async () => {
  const { clickhouse } = store;
  await downgrade(store, 3);
  for (const table of TABLES) await insert(table, 1, USAGE_ROW_COLUMNS);
  await applyClickHouseMigrations(clickhouse, undefined, ['_7']);
  for (const table of TABLES) {
    const [columns, own] = [USAGE_ROW_COLUMNS, table];
    await clickhouse.command(
      `INSERT INTO ${own} (${columns.join(', ')}, corrections, is_counter)
       SELECT ${columns.map((name) => `\`${name}\``).join(', ')}, number = 2, number = 1 FROM ${own}
       ARRAY JOIN [1, 2] AS number`,
    );
    await clickhouse.command(`OPTIMIZE TABLE ${table} FINAL`);
    expect(await clickhouse.query(`SELECT corrections, is_counter FROM ${table} ORDER BY ALL`)).toEqual([
      { corrections: 0, is_counter: false },
      { corrections: 0, is_counter: true },
      { corrections: 1, is_counter: false },
    ]);
  }
});

/** Columns of charge items that are younger than corrections. */
const ITEM_COLUMNS = [
  'item.cumulative',
  'item.cost_amount',
  'item.cost_currency',
  'item.cost_rule_set_id',
  'item.cost_rule_set_version',
  'item.cost_rule_name',
];

test('events from before costs have none, in shared and dedicated tables, and spooled rows still fit', async () => {
  const { clickhouse } = store;
  await downgrade(store, 4);
  for (const table of TABLES) await insert(table, 1, USAGE_ROW_COLUMNS);
  expect(await applyClickHouseMigrations(clickhouse, undefined, ['_7'])).toEqual(MIGRATIONS.slice(4));
  for (const table of TABLES) {
    // Blocks that were written before lack the columns that the insert names.
    await insert(table, 2, [...USAGE_ROW_COLUMNS, ...ITEM_COLUMNS]);
    const none = { amounts: ['0'], currencies: [''] };
    expect(
      await clickhouse.query(
        `SELECT arrayMap(x -> toString(x), item.cost_amount) AS amounts, item.cost_currency AS currencies FROM ${table}`,
      ),
    ).toEqual([none, none]);
    const rollup = table.replace('events', 'rollup');
    expect(
      await clickhouse.query(`SELECT sum(cost) AS cost, sum(cost_count) AS count FROM ${rollup}`),
    ).toEqual([{ cost: '0', count: '0' }]);
  }
});

test('an insert that is repeated after views were replaced counts once, and later ones compare quantities', async () => {
  const { clickhouse } = store;
  await downgrade(store, 8);
  for (const table of TABLES) await insert(table, 1, USAGE_ROW_COLUMNS);
  await applyClickHouseMigrations(clickhouse, undefined, ['_7']);
  for (const statement of await outdatedViews(clickhouse, ['_7'])) await clickhouse.command(statement);
  expect(await outdatedViews(clickhouse, ['_7'])).toEqual([]);
  for (const table of TABLES) {
    await insert(table, 1, USAGE_ROW_COLUMNS);
    const rollup = table.replace('events', 'rollup');
    const found = () =>
      clickhouse.query(
        `SELECT resolution, sum(item_count) AS items, sum(compared_item_count) AS compared, toString(min(minimum)) AS least
         FROM ${rollup} GROUP BY resolution ORDER BY resolution`,
      );
    const rows = (counts: object) => [60, 900, 3_600].map((resolution) => ({ resolution, ...counts }));
    expect(await found()).toEqual(rows({ items: '1', compared: '0', least: null }));
    await insert(table, 2, USAGE_ROW_COLUMNS);
    expect(await found()).toEqual(rows({ items: '2', compared: '1', least: '1' }));
    // A killed insert may have brought the rows to the events alone.
    await clickhouse.command(`TRUNCATE TABLE ${rollup}`);
    await insert(table, 2, USAGE_ROW_COLUMNS);
    expect(await found()).toEqual(rows({ items: '1', compared: '1', least: '1' }));
  }
});

test('repeats each statement of an interrupted migration', async () => {
  const { clickhouse } = store;
  await downgrade(store, 3);
  await applyClickHouseMigrations(clickhouse, undefined, ['_7']);
  await clickhouse.command(
    'ALTER TABLE schema_migrations DELETE WHERE version > 1 SETTINGS mutations_sync = 2',
  );
  expect(await applyClickHouseMigrations(clickhouse, undefined, ['_7'])).toEqual(MIGRATIONS.slice(1));
});

test('tables of a project that were made during an upgrade get the views beside the former one', async () => {
  const { clickhouse } = store;
  await downgrade(store, 8);
  const viewsOf = (suffix: string) =>
    clickhouse.query(
      `SELECT replaceAll(name, {suffix:String}, '') AS view FROM system.tables
       WHERE database = currentDatabase() AND match(name, {pattern:String}) ORDER BY view`,
      { suffix, pattern: `_view${suffix}$` },
    );
  for (const view of ['usage_cost_view_7', 'usage_correction_view_7'])
    await clickhouse.command(`DROP VIEW ${view} SYNC`);
  await applyClickHouseMigrations(clickhouse, undefined, ['_7']);
  expect(await viewsOf('_7')).toEqual(await viewsOf(''));
  expect(await incompleteCopies(clickhouse, ['_7'])).toEqual([]);
  for (const statement of await outdatedViews(clickhouse, ['_7'])) await clickhouse.command(statement);
  expect(await viewsOf('_7')).toEqual([{ view: 'usage_rollup_view' }]);
  expect(await incompleteCopies(clickhouse, ['_7'])).toEqual([]);
});

test('a new store is like one that was upgraded step by step, with views that were replaced', async () => {
  const { clickhouse } = store;
  await downgrade(store, 1);
  await applyClickHouseMigrations(clickhouse, undefined, ['_7']);
  for (const statement of await outdatedViews(clickhouse, ['_7'])) await clickhouse.command(statement);
  const fresh = await createTestClickHouse();
  try {
    await createTableCopy(fresh.clickhouse, '_7');
    const definitions = await definitionsOf(fresh);
    // Events, rollup and view, each with a copy; recorded groups and the record of migrations.
    expect(definitions).toHaveLength(8);
    expect(await definitionsOf(store)).toEqual(definitions);
  } finally {
    await fresh.drop();
  }
});

async function definitionsOf({ clickhouse, database }: TestClickHouse): Promise<string[]> {
  const rows = await clickhouse.query<{ text: string }>(
    'SELECT create_table_query AS text FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  return rows.map(({ text }) => text.replaceAll(database, 'database').replaceAll(/ UUID '[^']*'/g, ''));
}
