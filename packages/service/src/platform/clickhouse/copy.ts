import { readMigrations } from '../migration-files.js';
import type { ClickHouse } from './port.js';
import { renamed, statementsOf, tablesOf } from './statements.js';

/**
 * Makes all tables once more, empty, under names that end in `suffix`: by the statements that made the first
 * ones, so that they differ in nothing. Repeated, it makes what is missing.
 */
export async function createTableCopy(
  clickhouse: Pick<ClickHouse, 'command'>,
  suffix: string,
): Promise<void> {
  const migrations = readMigrations('clickhouse');
  const tables = tablesOf(migrations);
  for (const statement of migrations.flatMap(statementsOf)) {
    await clickhouse.command(renamed(statement, tables, suffix));
  }
}

/** Makes those of the copies that are not there, or not whole: of a ClickHouse that was made anew, for one. */
export async function createMissingTableCopies(
  clickhouse: Pick<ClickHouse, 'command' | 'query'>,
  suffixes: readonly string[],
): Promise<void> {
  if (suffixes.length === 0) return;
  const tables = tablesOf(readMigrations('clickhouse'));
  const rows = await clickhouse.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  const found = new Set(rows.map(({ name }) => name));
  for (const suffix of suffixes) {
    if (!tables.every((table) => found.has(table + suffix))) await createTableCopy(clickhouse, suffix);
  }
}
