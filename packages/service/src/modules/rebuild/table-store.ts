import {
  applyClickHouseMigrations,
  type ClickHouse,
  type ConfirmInsert,
  columnList,
  identifier,
} from '../../platform/clickhouse/index.js';
import { ROLLUP_VIEWS, type StorageTables } from '../storage/index.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';

const COLUMNS = columnList(USAGE_EVENT_COLUMNS);
const USAGE_TABLE = ['usage_events', 'usage_rollup', ...ROLLUP_VIEWS].join('|');
const SHARED_TABLE = `^(${USAGE_TABLE}|recorded_groups)$`;
/** The end of the name of a project's own table; empty for other tables. */
const SUFFIX = `extract(name, '^(?:${USAGE_TABLE})(_[0-9]+)$')`;
/** Selects the own tables of projects that are not known, if one of the tables has rows. */
const HAS_FOREIGN_ROWS = `(${SUFFIX} != '' AND ${SUFFIX} NOT IN {known:Array(String)} AND ${SUFFIX} IN (
  SELECT ${SUFFIX} FROM system.tables WHERE database = currentDatabase() AND total_rows > 0))`;

/**
 * Drops every table with its rows, and creates the tables again. A project that is being created keeps its own tables,
 * which are empty; and the record of migrations stays, because their creation reads it.
 *
 * @param suffixes of the tables of projects that have own ones
 */
export async function renewTables(clickhouse: ClickHouse, suffixes: readonly string[]): Promise<void> {
  const isOld = `match(name, {shared:String}) OR ${SUFFIX} IN {known:Array(String)} OR ${HAS_FOREIGN_ROWS}`;
  await dropTables(clickhouse, isOld, { shared: SHARED_TABLE, known: suffixes });
  await clickhouse.command('TRUNCATE TABLE IF EXISTS schema_migrations');
  await completeTables(clickhouse, suffixes);
}

/** Creates tables that are missing. */
export async function completeTables(clickhouse: ClickHouse, suffixes: readonly string[]): Promise<void> {
  await applyClickHouseMigrations(clickhouse, undefined, suffixes);
}

/**
 * Drops tables with rows of projects that do not exist: after a restore, a new project can get the number of one. Empty
 * tables may be those of a project that is being created.
 */
export async function dropForeignTables(clickhouse: ClickHouse, suffixes: readonly string[]): Promise<void> {
  await dropTables(clickhouse, HAS_FOREIGN_ROWS, { known: suffixes });
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
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND (${condition})
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

interface MonthsCopy {
  readonly months: ReadonlySet<number>;
  readonly token: string;
  readonly confirm: ConfirmInsert;
}

/**
 * Copies the rows of some months from another table; returns their number. A repetition with the same token inserts
 * nothing again.
 */
export async function copyMonths(
  clickhouse: ClickHouse,
  from: string,
  { events }: StorageTables,
  { months, token, confirm }: MonthsCopy,
): Promise<number> {
  const params = { months: [...months] };
  const chosen = `FROM ${from} WHERE toYYYYMM(occurred_at) IN {months:Array(UInt32)}`;
  const reader = await clickhouse.upToDate([from]);
  const [found] = await reader.query<{ events: string }>(`SELECT count() AS events ${chosen}`, params);
  const count = Number(found?.events);
  if (count === 0) return 0;
  const bytes = await reader.exportRows(`SELECT ${COLUMNS} ${chosen}`, params);
  await clickhouse.insertRows(events, USAGE_EVENT_COLUMNS, { bytes }, count, token, confirm);
  return count;
}
