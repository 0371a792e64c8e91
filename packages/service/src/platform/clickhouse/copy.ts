import { readMigrations } from '../migration-files.js';
import type { ClickHouse } from './port.js';
import { renamed, statementsOf, tablesOf } from './statements.js';

/**
 * Creates all tables once more, empty, with names that end in `suffix`, using the statements that created the first
 * ones, so that they are equal. A repeated call creates what is missing.
 */
export async function createTableCopy(
  clickhouse: Pick<ClickHouse, 'command'>,
  suffix: string,
): Promise<void> {
  const migrations = readMigrations('clickhouse');
  const tables = tablesOf(migrations);
  for (const statement of migrations.flatMap(statementsOf)) {
    const copied = renamed(statement, tables, suffix);
    if (copied !== statement) await clickhouse.command(copied);
  }
}

/** Returns the suffixes of the copies that are missing or incomplete, for example in a new ClickHouse. */
export async function incompleteCopies(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: readonly string[],
): Promise<string[]> {
  if (suffixes.length === 0) return [];
  const tables = tablesOf(readMigrations('clickhouse'));
  const rows = await clickhouse.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  const found = new Set(rows.map(({ name }) => name));
  return suffixes.filter((suffix) => !tables.every((table) => found.has(table + suffix)));
}
