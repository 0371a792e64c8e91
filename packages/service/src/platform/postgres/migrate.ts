import type pg from 'pg';
import {
  type AppliedMigration,
  type Migration,
  pendingMigrations,
  readMigrations,
  type StoreName,
} from '../migration-files.js';
import { withAdvisoryLock } from './advisory-lock.js';
import type { Postgres } from './connect.js';

const LOCK_NAME = 'tollgate/migrations/postgres';

/**
 * Upgrades the schema to this release, in one transaction for each migration; returns the names of the applied ones.
 * Services that start at the same time wait for each other. Throws MigrationError.
 *
 * @param storeName names the schema in errors: a PostgreSQL database can also be the directory of cells
 */
export async function applyMigrations(
  postgres: Pick<Postgres, 'pool'>,
  migrations: readonly Migration[] = readMigrations('postgres'),
  storeName: StoreName = 'postgres',
): Promise<string[]> {
  return withAdvisoryLock(postgres, LOCK_NAME, async () => {
    const client = await postgres.pool.connect();
    try {
      return await applyPending(client, migrations, storeName);
    } finally {
      client.release();
    }
  });
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
  const { rows } = await client.query<AppliedMigration>(
    'select version, name, checksum from schema_migrations order by version',
  );
  const pending = pendingMigrations(storeName, migrations, rows);
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
