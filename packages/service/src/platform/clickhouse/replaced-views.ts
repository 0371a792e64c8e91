import { readMigrations } from '../migration-files.js';
import type { ClickHouse } from './port.js';
import { renamed, statementsOf, tablesOf } from './statements.js';

const REPLACING = /^CREATE OR REPLACE MATERIALIZED VIEW (\w+)/i;
/** A column that the views have only since they were replaced. */
const NEWEST_COLUMN = 'minimum';

/**
 * Returns the name of the view that a statement replaces; undefined if it is no such statement. For a moment there are
 * two views then, and an insert that runs meanwhile would be counted by both.
 */
export function replacedView(statement: string): string | undefined {
  return REPLACING.exec(statement)?.[1];
}

/**
 * Returns the statements that replace the views of earlier releases. Until then rows are only summed by the old views.
 *
 * @param suffixes of the copies of all tables
 */
export async function outdatedViews(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: readonly string[],
): Promise<string[]> {
  const migrations = readMigrations('clickhouse');
  const tables = tablesOf(migrations);
  const replacing = migrations
    .flatMap(statementsOf)
    .filter((statement) => replacedView(statement) !== undefined)
    .flatMap((statement) => ['', ...suffixes].map((suffix) => renamed(statement, tables, suffix)));
  const views = await clickhouse.query<{ table: string }>(
    `SELECT table FROM system.columns WHERE database = currentDatabase() AND name = {column:String}`,
    { column: NEWEST_COLUMN },
  );
  const renewed = new Set(views.map(({ table }) => table));
  return replacing.filter((statement) => !renewed.has(replacedView(statement) ?? ''));
}
