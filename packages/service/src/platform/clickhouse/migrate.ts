import {
  type AppliedMigration,
  type Migration,
  pendingMigrations,
  readMigrations,
} from '../migration-files.js';
import { createMissingTableCopies } from './copy.js';
import type { ClickHouse } from './port.js';
import { renamed, statementsOf, tablesOf } from './statements.js';

/**
 * Upgrades the schema to this release; returns the names of the applied migrations. ClickHouse has no transactions: a
 * migration is recorded after its last statement, and one that was interrupted runs again from its start, so each
 * statement must be safe to repeat. Services that share a server must not do this at the same time: hold a lock of
 * PostgreSQL around it. Throws MigrationError.
 *
 * @param suffixes of the copies of all tables, which get the same changes
 */
export async function applyClickHouseMigrations(
  clickhouse: ClickHouse,
  migrations: readonly Migration[] = readMigrations('clickhouse'),
  suffixes: readonly string[] = [],
): Promise<string[]> {
  await clickhouse.command(`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version UInt32, name String, checksum String, applied_at DateTime('UTC') DEFAULT now()
    ) ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`);
  const applied = await clickhouse.query<AppliedMigration>(
    'SELECT DISTINCT version, name, checksum FROM schema_migrations ORDER BY version',
  );
  const pending = pendingMigrations('clickhouse', migrations, applied);
  const tables = tablesOf(migrations);
  for (const migration of pending) await applyOne(clickhouse, migration, tables, suffixes);
  await createMissingTableCopies(clickhouse, suffixes);
  return pending.map(({ name }) => name);
}

async function applyOne(
  clickhouse: ClickHouse,
  migration: Migration,
  tables: readonly string[],
  suffixes: readonly string[],
): Promise<void> {
  for (const statement of statementsOf(migration)) {
    for (const suffix of ['', ...suffixes]) await clickhouse.command(renamed(statement, tables, suffix));
  }
  const { version, name, checksum } = migration;
  await clickhouse.command(
    `INSERT INTO schema_migrations (version, name, checksum)
     SELECT {version:UInt32}, {name:String}, {checksum:String}`,
    { version, name, checksum },
  );
}
