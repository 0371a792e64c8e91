import type pg from 'pg';
import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  outdatedError,
  pendingMigrations,
  readMigrations,
  type StoreName,
} from '../migration-files.js';
import { withAdvisoryLock } from './advisory-lock.js';
import type { Postgres } from './connect.js';
import { isForbidden } from './errors.js';

const LOCK_NAME = 'tollgate/migrations/postgres';

/**
 * Upgrades the schema to this release, in one transaction for each migration; returns the names of the applied ones.
 * Services that start at the same time wait for each other. If nothing is pending, it only reads, so that a role that
 * may not create tables can serve. Throws MigrationError.
 *
 * @param storeName names the schema in errors: a PostgreSQL database can also be the directory of cells
 */
export async function applyMigrations(
  postgres: Pick<Postgres, 'pool' | 'db'>,
  migrations: readonly Migration[] = readMigrations('postgres'),
  storeName: StoreName = 'postgres',
): Promise<string[]> {
  if ((await pendingIn(postgres.pool, migrations, storeName)).length === 0) return [];
  try {
    return await withAdvisoryLock(postgres, LOCK_NAME, async () => {
      const client = await postgres.pool.connect();
      try {
        return await applyPending(client, migrations, storeName);
      } finally {
        client.release();
      }
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const command = storeName === 'directory' ? 'tollgate cell list' : 'tollgate migrate';
    throw new MigrationError(
      `The ${storeName} schema is not up to date, and this role may not change it (${error.message}): run ${command} with the role that owns the tables.`,
    );
  }
}

/** Changes nothing. @throws MigrationError if the schema is not that of this release */
export async function checkMigrations({ pool }: Pick<Postgres, 'pool'>): Promise<void> {
  const pending = await pendingIn(pool, readMigrations('postgres'), 'postgres');
  if (pending.length > 0) throw outdatedError('postgres', pending);
}

async function pendingIn(
  db: Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>,
  migrations: readonly Migration[],
  storeName: StoreName,
): Promise<Migration[]> {
  // Only this schema counts: another one of the search path may contain another installation.
  const { rows: found } = await db.query(
    `select from pg_tables where schemaname = current_schema() and tablename = 'schema_migrations'`,
  );
  if (found.length === 0) return [...migrations];
  const { rows } = await db.query<AppliedMigration>(
    'select version, name, checksum from schema_migrations order by version',
  );
  return pendingMigrations(storeName, migrations, rows);
}

async function applyPending(
  client: pg.PoolClient,
  migrations: readonly Migration[],
  storeName: StoreName,
): Promise<string[]> {
  await client.query(`
    create table if not exists schema_migrations (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at bigint not null default extract(epoch from now())::bigint
    )`);
  const pending = await pendingIn(client, migrations, storeName);
  for (const migration of pending) await applyOne(client, migration);
  return pending.map(({ name }) => name);
}

async function applyOne(client: pg.PoolClient, migration: Migration): Promise<void> {
  try {
    await client.query('begin');
    await client.query(migration.sql);
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      migration.version,
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
