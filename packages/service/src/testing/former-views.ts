import type { ClickHouse } from '../platform/clickhouse/index.js';
import { readMigrations, splitStatements } from '../platform/migration-files.js';

/** The last migration before one view replaced the others. */
const LAST_MIGRATION = 9;
const NAME = /\busage_(?:events|rollup|(?:rollup|counter|cost|correction)_view)\b/g;

/** Gives `usage_rollup`, or a copy of it, the views that filled it before one view replaced them. */
export async function restoreFormerViews(clickhouse: ClickHouse, suffix = ''): Promise<void> {
  const migrations = readMigrations('clickhouse').slice(0, LAST_MIGRATION);
  for (const statement of migrations.flatMap(({ sql }) => splitStatements(sql))) {
    if (statement.includes(' VIEW ')) await clickhouse.command(statement.replaceAll(NAME, `$&${suffix}`));
  }
}
