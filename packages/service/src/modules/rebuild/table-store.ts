import {
  applyClickHouseMigrations,
  type ClickHouse,
  columnList,
  identifier,
} from '../../platform/clickhouse/index.js';
import type { StorageTables } from '../storage/index.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';

const COLUMNS = columnList(USAGE_EVENT_COLUMNS);
/** Own tables of a project, whose names end in its number. */
const OWN_TABLE = '^usage_(events|rollup|rollup_view)_[0-9]+$';
const TABLE = '^(usage_(events|rollup|rollup_view)(_[0-9]+)?|recorded_groups|schema_migrations)$';

/**
 * Drops every table with its rows, and creates the tables again.
 *
 * @param suffixes of the tables of projects that have own ones
 */
export async function renewTables(clickhouse: ClickHouse, suffixes: readonly string[]): Promise<void> {
  await dropTables(clickhouse, 'match(name, {pattern:String})', { pattern: TABLE });
  await applyClickHouseMigrations(clickhouse, undefined, suffixes);
}

/** Creates tables that are missing, such as those of a project that was created meanwhile. */
export async function completeTables(clickhouse: ClickHouse, suffixes: readonly string[]): Promise<void> {
  await applyClickHouseMigrations(clickhouse, undefined, suffixes);
}

/** Drops tables of projects that do not exist: after a restore, a new project can get the number of one. */
export async function dropForeignTables(clickhouse: ClickHouse, suffixes: readonly string[]): Promise<void> {
  const isForeign = "match(name, {pattern:String}) AND extract(name, '_[0-9]+$') NOT IN {own:Array(String)}";
  await dropTables(clickhouse, isForeign, { pattern: OWN_TABLE, own: suffixes });
}

/** Forgets which groups were inserted. */
export async function forgetRecordedGroups(clickhouse: Pick<ClickHouse, 'command'>): Promise<void> {
  await clickhouse.command('TRUNCATE TABLE recorded_groups');
}

/** Drops views before the tables that they write to. */
async function dropTables(
  clickhouse: ClickHouse,
  condition: string,
  params: Readonly<Record<string, unknown>>,
): Promise<void> {
  const tables = await clickhouse.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND ${condition}
     ORDER BY engine != 'MaterializedView', name`,
    params,
  );
  for (const { name } of tables) {
    // By default a server refuses to drop a table of more than 50 GB.
    await clickhouse.command(
      `DROP TABLE IF EXISTS ${identifier(name)} SYNC SETTINGS max_table_size_to_drop = 0`,
    );
  }
}

/**
 * Copies the rows of some months from another table; returns their number. A repetition with the same token inserts
 * nothing again.
 */
export async function copyMonths(
  clickhouse: ClickHouse,
  from: string,
  { events }: StorageTables,
  { months, token }: { readonly months: ReadonlySet<number>; readonly token: string },
): Promise<number> {
  const params = { months: [...months] };
  const chosen = `FROM ${from} WHERE toYYYYMM(occurred_at) IN {months:Array(UInt32)}`;
  const reader = await clickhouse.upToDate([from]);
  const [found] = await reader.query<{ events: string }>(`SELECT count() AS events ${chosen}`, params);
  const count = Number(found?.events);
  if (count === 0) return 0;
  const bytes = await reader.exportRows(`SELECT ${COLUMNS} ${chosen}`, params);
  await clickhouse.insertRows(events, USAGE_EVENT_COLUMNS, { bytes }, count, token);
  return count;
}
