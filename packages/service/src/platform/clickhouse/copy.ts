import { type Migration, readMigrations } from '../migration-files.js';
import type { ClickHouse } from './port.js';
import { copiesWithFormerViews } from './replaced-views.js';
import { joinedStatements, renamed, statementsOf, tablesOf, viewChange, viewChanges } from './statements.js';

/**
 * Creates all tables once more, empty, with names that end in `suffix`, using the statements that created the first
 * ones, so that they are equal. A newer release may already have changed those: its statements are in the record of
 * migrations. A repeated call creates what is missing, and leaves existing views as they are, because rows may arrive
 * meanwhile: where one of them is of an earlier release, the views beside it are created, too.
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
  const existing = await columnCounts(clickhouse);
  const isFormer = (await copiesWithFormerViews(clickhouse, [suffix])).has(suffix);
  for (const statement of isFormer ? migrations.flatMap(statementsOf) : joinedStatements(migrations)) {
    const copied = renamed(statement, tables, suffix);
    const view = viewChange(copied)?.view;
    if (copied === statement || (view !== undefined && (isFormer || existing.has(view)))) continue;
    await clickhouse.command(copied);
  }
}

/**
 * Returns the suffixes of the copies that lack a table, a view or a column of a table, for example in a new ClickHouse.
 */
export async function incompleteCopies(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: readonly string[],
): Promise<string[]> {
  if (suffixes.length === 0) return [];
  const migrations = readMigrations('clickhouse');
  const dropped = new Set(
    viewChanges(migrations).flatMap(({ view, isDropped }) => (isDropped ? [view] : [])),
  );
  const tables = tablesOf(migrations);
  const columns = await columnCounts(clickhouse);
  const former = await copiesWithFormerViews(clickhouse, suffixes);
  const isComplete = (table: string, suffix: string) => {
    const [original, copy] = [columns.get(table), columns.get(table + suffix)];
    if (copy === undefined) return dropped.has(table) && !former.has(suffix);
    return original === undefined || isView(table) || copy >= original;
  };
  return suffixes.filter((suffix) => !tables.every((table) => isComplete(table, suffix)));
}

/** Views of earlier releases have fewer columns until they are replaced. */
function isView(name: string): boolean {
  return name.endsWith('_view');
}

/** Returns the number of columns of each table and view. */
async function columnCounts(clickhouse: Pick<ClickHouse, 'query'>): Promise<Map<string, number>> {
  const rows = await clickhouse.query<{ table: string; columns: number }>(
    `SELECT table, toUInt32(count()) AS columns FROM system.columns
     WHERE database = currentDatabase() GROUP BY table`,
  );
  return new Map(rows.map((row) => [row.table, row.columns]));
}
