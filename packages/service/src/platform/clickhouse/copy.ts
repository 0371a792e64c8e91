import { type Migration, readMigrations } from '../migration-files.js';
import type { ClickHouse } from './port.js';
import { renamed, statementsOf, tablesOf } from './statements.js';

/**
 * Creates all tables once more, empty, with names that end in `suffix`, using the statements that created the first
 * ones, so that they are equal. A newer release may already have changed those: its statements are in the record of
 * migrations. A repeated call creates what is missing.
 */
export async function createTableCopy(
  clickhouse: Pick<ClickHouse, 'command' | 'query'>,
  suffix: string,
): Promise<void> {
  const known = readMigrations('clickhouse');
  const newer = await clickhouse.query<Pick<Migration, 'name' | 'sql'>>(
    'SELECT * FROM schema_migrations WHERE version > {last:UInt32} ORDER BY version',
    { last: known.length },
  );
  const migrations = [...known, ...newer];
  const tables = tablesOf(migrations);
  for (const statement of migrations.flatMap(statementsOf)) {
    const copied = renamed(statement, tables, suffix);
    if (copied !== statement) await clickhouse.command(copied);
  }
}

/** Returns the suffixes of the copies that lack a table or a column, for example in a new ClickHouse. */
export async function incompleteCopies(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: readonly string[],
): Promise<string[]> {
  if (suffixes.length === 0) return [];
  const tables = tablesOf(readMigrations('clickhouse'));
  const rows = await clickhouse.query<{ table: string; columns: number }>(
    `SELECT table, toUInt32(count()) AS columns FROM system.columns
     WHERE database = currentDatabase() GROUP BY table`,
  );
  const columns = new Map(rows.map((row) => [row.table, row.columns]));
  const isComplete = (table: string, suffix: string) => {
    const [original, copy] = [columns.get(table), columns.get(table + suffix)];
    return copy !== undefined && (original === undefined || copy >= original);
  };
  return suffixes.filter((suffix) => !tables.every((table) => isComplete(table, suffix)));
}
