import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  outdatedError,
  pendingMigrations,
  readMigrations,
} from '../migration-files.js';
import { createTableCopy, incompleteCopies } from './copy.js';
import type { ClickHouse } from './port.js';
import { joinedStatements, renamed, statementsOf, tablesOf, viewChange } from './statements.js';

/** Creates the table that records the applied migrations. */
const CREATE_RECORD = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    version UInt32, name String, checksum String, applied_at DateTime('UTC') DEFAULT now()
  ) ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** For processes of older releases: whether they work with a migration, and its text, which copies of tables need. */
const EXTEND_RECORD = `
  ALTER TABLE schema_migrations
    ADD COLUMN IF NOT EXISTS oldest_release String, ADD COLUMN IF NOT EXISTS sql String`;

/**
 * Upgrades the schema to this release; returns the names of the applied migrations. ClickHouse has no transactions: a
 * migration is recorded after its last statement, and one that was interrupted runs again from its start, so each
 * statement must be safe to repeat. A new store gets all of them in fewer statements. Services that share a server must
 * not do this at the same time: hold a lock of PostgreSQL around it. If nothing is pending, it only reads. Views of
 * earlier releases stay (`outdatedViews`). Throws MigrationError.
 *
 * @param suffixes of the copies of all tables, which get the same changes
 */
export async function applyClickHouseMigrations(
  clickhouse: ClickHouse,
  migrations: readonly Migration[] = readMigrations('clickhouse'),
  suffixes: readonly string[] = [],
): Promise<string[]> {
  const pending = await pendingIn(clickhouse, migrations);
  const tables = tablesOf(migrations);
  try {
    if (pending.length > 0) {
      await clickhouse.command(CREATE_RECORD);
      await clickhouse.command(EXTEND_RECORD);
      // Nothing is inserted into a store that is being set up.
      if (pending.length === migrations.length) await applyAll(clickhouse, migrations, { tables, suffixes });
      else for (const migration of pending) await applyOne(clickhouse, migration, { tables, suffixes });
    }
    for (const suffix of await incompleteCopies(clickhouse, suffixes))
      await createTableCopy(clickhouse, suffix);
  } catch (error) {
    if ((error as { type?: unknown }).type !== 'ACCESS_DENIED') throw error;
    throw new MigrationError(
      'The clickhouse schema is not up to date, and this user may not change it: run tollgate migrate with a user that may.',
    );
  }
  return pending.map(({ name }) => name);
}

/**
 * Changes nothing.
 *
 * @param suffixes of the copies of all tables
 * @throws MigrationError if this release does not work with the schema
 */
export async function checkClickHouseMigrations(
  clickhouse: Pick<ClickHouse, 'query'>,
  suffixes: readonly string[],
): Promise<void> {
  const pending = await pendingIn(clickhouse, readMigrations('clickhouse'));
  if (pending.length > 0) throw outdatedError('clickhouse', pending);
  const [missing] = await incompleteCopies(clickhouse, suffixes);
  if (missing === undefined) return;
  throw new MigrationError(
    `ClickHouse lacks tables of a project with dedicated storage (their names end in ${missing}): run tollgate migrate.`,
  );
}

async function pendingIn(
  clickhouse: Pick<ClickHouse, 'query'>,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  const found = await clickhouse.query(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'`,
  );
  if (found.length === 0) return [...migrations];
  const applied = await clickhouse.query<AppliedMigration>(
    'SELECT DISTINCT * EXCEPT (applied_at) FROM schema_migrations ORDER BY version',
  );
  return pendingMigrations('clickhouse', migrations, applied);
}

interface Copies {
  readonly tables: readonly string[];
  readonly suffixes: readonly string[];
}

async function applyAll(
  clickhouse: ClickHouse,
  migrations: readonly Migration[],
  copies: Copies,
): Promise<void> {
  for (const statement of joinedStatements(migrations)) await runOnAll(clickhouse, statement, copies);
  for (const migration of migrations) await record(clickhouse, migration);
}

async function applyOne(clickhouse: ClickHouse, migration: Migration, copies: Copies): Promise<void> {
  for (const statement of statementsOf(migration)) {
    if (viewChange(statement) === undefined) await runOnAll(clickhouse, statement, copies);
  }
  await record(clickhouse, migration);
}

/** Runs a statement, and the same for the copies of its tables. */
async function runOnAll(
  clickhouse: ClickHouse,
  statement: string,
  { tables, suffixes }: Copies,
): Promise<void> {
  const copied = new Set(['', ...suffixes].map((suffix) => renamed(statement, tables, suffix)));
  for (const each of copied) await clickhouse.command(each);
}

async function record(
  clickhouse: ClickHouse,
  { version, name, checksum, oldestRelease = '', sql }: Migration,
): Promise<void> {
  await clickhouse.command(
    `INSERT INTO schema_migrations (version, name, checksum, oldest_release, sql)
     SELECT {version:UInt32}, {name:String}, {checksum:String}, {oldestRelease:String}, {sql:String}`,
    { version, name, checksum, oldestRelease, sql },
  );
}
