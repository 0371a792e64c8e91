import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  pendingMigrations,
  readMigrations,
} from '../migration-files.js';
import type { ClickHouse } from './port.js';

/**
 * Brings the schema up to this release; answers the names of the migrations applied. ClickHouse has no transactions: a
 * migration is noted after its last statement, and one that was cut short runs again from its start, so every statement must
 * bear repetition. Services that share a server must not do this at the same time: hold a lock of PostgreSQL around it.
 * Throws MigrationError.
 */
export async function applyClickHouseMigrations(
  clickhouse: ClickHouse,
  migrations: readonly Migration[] = readMigrations('clickhouse'),
): Promise<string[]> {
  await clickhouse.command(`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version UInt32, name String, checksum String, applied_at DateTime('UTC') DEFAULT now()
    ) ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`);
  const applied = await clickhouse.query<AppliedMigration>(
    'SELECT DISTINCT version, name, checksum FROM schema_migrations ORDER BY version',
  );
  const pending = pendingMigrations('clickhouse', migrations, applied);
  for (const migration of pending) await applyOne(clickhouse, migration);
  return pending.map(({ name }) => name);
}

async function applyOne(clickhouse: ClickHouse, { version, name, checksum, sql }: Migration): Promise<void> {
  for (const statement of splitStatements(sql)) {
    if (!bearsRepetition(statement)) {
      throw new MigrationError(`A statement of ${name} does not bear repetition: ${statement.slice(0, 60)}…`);
    }
    await clickhouse.command(statement);
  }
  await clickhouse.command(
    `INSERT INTO schema_migrations (version, name, checksum)
     SELECT {version:UInt32}, {name:String}, {checksum:String}`,
    { version, name, checksum },
  );
}

/** Statements end with a semicolon at the end of a line. Comments of whole lines are dropped. */
export function splitStatements(sql: string): string[] {
  return sql
    .replaceAll(/^\s*--.*$/gm, '')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

function bearsRepetition(statement: string): boolean {
  return /\bIF (NOT )?EXISTS\b|^CREATE OR REPLACE\b/i.test(statement);
}
