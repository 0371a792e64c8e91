import { readMigrations } from '../migration-files.js';
import type { ClickHouse } from './port.js';
import { renamed, tablesOf, viewChanges } from './statements.js';

/** A column that a replaced view has only since it was replaced. */
const NEWEST_COLUMN = 'countered_item_count';
const SUFFIX = /(?:_\d+)?$/;

/**
 * Returns the statements that replace and drop the views of earlier releases, in order. Until the first of them, rows
 * are summed by the former views; between the first and the last, sums of corrected usage and of costs would be wrong.
 *
 * @param suffixes of the copies of all tables
 */
export async function outdatedViews(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: readonly string[],
): Promise<string[]> {
  const migrations = readMigrations('clickhouse');
  const tables = tablesOf(migrations);
  const changes = viewChanges(migrations);
  const views = await existingViews(clickhouse);
  return ['', ...suffixes].flatMap((suffix) =>
    changes
      .filter(({ view, isDropped }) => (isDropped ? views.has(view + suffix) : !views.get(view + suffix)))
      .map(({ statement }) => renamed(statement, tables, suffix)),
  );
}

/**
 * Returns whether the views of a table were replaced in part only, because a process died meanwhile. No rows may be
 * inserted then.
 *
 * @param suffixes returns those of the copies that can get rows: others may be left of a project that could not be
 *   created; called only if some views were replaced in part
 */
export async function areViewsHalfReplaced(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: () => Promise<readonly string[]>,
): Promise<boolean> {
  const views = await existingViews(clickhouse);
  const changes = viewChanges(readMigrations('clickhouse'));
  const isHalf = (suffix: string) =>
    changes.some(({ view, isDropped }) => !isDropped && views.get(view + suffix)) &&
    changes.some(({ view, isDropped }) => isDropped && views.has(view + suffix));
  const found = [...views.keys()].map((name) => SUFFIX.exec(name)?.[0] ?? '');
  return found.some(isHalf) && ['', ...(await suffixes())].some(isHalf);
}

/** Returns the suffixes of the copies whose rows are summed by the views of an earlier release. */
export async function copiesWithFormerViews(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: readonly string[],
): Promise<ReadonlySet<string>> {
  const views = await existingViews(clickhouse);
  const changes = viewChanges(readMigrations('clickhouse'));
  const isFormer = (suffix: string) =>
    changes.some(({ view, isDropped }) => !isDropped && views.get(view + suffix) === false);
  return new Set(suffixes.filter(isFormer));
}

/** Returns whether each view has the newest column, by its name. */
async function existingViews(clickhouse: Pick<ClickHouse, 'query'>): Promise<Map<string, boolean>> {
  const views = await clickhouse.query<{ name: string; found: number }>(
    `SELECT name, position(as_select, {column:String}) AS found FROM system.tables
     WHERE database = currentDatabase() AND engine = 'MaterializedView'`,
    { column: NEWEST_COLUMN },
  );
  return new Map(views.map(({ name, found }) => [name, Number(found) > 0]));
}
