import type pg from 'pg';
import type { Logger } from 'pino';
import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  migrationCommand,
  outdatedError,
  pendingMigrations,
  readMigrations,
  type StoreName,
  splitStatements,
} from '../migration-files.js';
import { pollAdvisoryLock } from './advisory-lock.js';
import type { Postgres } from './connect.js';
import { isForbidden } from './errors.js';
import {
  LOCK_PATIENCE,
  type LockPatience,
  type SchemaChange,
  untilLocked,
  whileWatched,
} from './lock-attempts.js';

const LOCK_NAME = 'tollgate/migrations/postgres';

export interface MigrationOptions {
  /** Names the schema in errors: a PostgreSQL database can also be the directory of cells. */
  readonly storeName?: Exclude<StoreName, 'clickhouse'>;
  /** Default: those of this release. */
  readonly migrations?: readonly Migration[];
  /** Gets a line for each lock that is not obtained. */
  readonly log?: Pick<Logger, 'warn'> | undefined;
  /** Ends the waits for other processes and the pauses between attempts, with its reason. */
  readonly signal?: AbortSignal | undefined;
  readonly patience?: LockPatience;
}

/**
 * Upgrades the schema to this release; returns the names of the applied migrations. It never waits long for a lock for
 * which the service would wait too (docs/upgrading.md). Services that start at the same time wait for each other. If
 * nothing is pending, it only reads, so that a role that may not create tables can serve. Throws MigrationError.
 */
export async function applyMigrations(
  postgres: Pick<Postgres, 'pool' | 'db'>,
  options: MigrationOptions = {},
): Promise<string[]> {
  const { storeName = 'postgres', patience = LOCK_PATIENCE, log, signal } = options;
  const { migrations = readMigrations(storeName) } = options;
  const pending = (db: pg.Pool | pg.PoolClient) => pendingIn(db, migrations, storeName);
  if ((await pending(postgres.pool)).length === 0) return [];
  try {
    const work = async (observer: Pick<pg.PoolClient, 'query'>) => {
      const session = await postgres.pool.connect();
      try {
        const change = { session, observer, patience, log, signal };
        await createRecord(change);
        const steps = await pending(session);
        for (const migration of steps) await applyOne(change, migration);
        return steps.map(({ name }) => name);
      } finally {
        session.release();
      }
    };
    return await pollAdvisoryLock(postgres, LOCK_NAME, work, signal);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new MigrationError(
      `The ${storeName} schema is not up to date, and this role may not change it (${error.message}): run ${migrationCommand(storeName)} with the role that owns the tables.`,
    );
  }
}

/** Changes nothing. @throws MigrationError if this release does not work with the schema */
export async function checkMigrations(
  { pool }: Pick<Postgres, 'pool'>,
  storeName: Exclude<StoreName, 'clickhouse'> = 'postgres',
): Promise<void> {
  const pending = await pendingIn(pool, readMigrations(storeName), storeName);
  if (pending.length > 0) throw outdatedError(storeName, pending);
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
  // A table from before release 0.1.0 lacks the last column, until a migration is applied.
  const { rows } = await db.query<AppliedMigration>(
    `select version, name, checksum, to_jsonb(schema_migrations) ->> 'oldest_release' as oldest_release
    from schema_migrations order by version`,
  );
  return pendingMigrations(storeName, migrations, rows);
}

function createRecord(change: SchemaChange): Promise<void> {
  return untilLocked(change, 'The record of migrations', () =>
    inTransaction(change, async ({ session }) => {
      await session.query(`
        create table if not exists schema_migrations (
          version integer primary key,
          name text not null,
          checksum text not null,
          applied_at bigint not null default extract(epoch from now())::bigint
        );
        alter table schema_migrations add column if not exists oldest_release text`);
    }),
  );
}

async function applyOne(change: SchemaChange, migration: Migration): Promise<void> {
  const subject = `Migration ${migration.version} (${migration.name})`;
  if (!migration.isInTransaction) return applyConcurrently(change, subject, migration);
  await untilLocked(change, subject, () =>
    inTransaction(change, async ({ session }) => {
      await session.query(migration.sql);
      await record(change, migration);
    }),
  );
}

async function record({ session }: SchemaChange, migration: Migration): Promise<void> {
  const { version, name, checksum, oldestRelease } = migration;
  await session.query(
    'insert into schema_migrations (version, name, checksum, oldest_release) values ($1, $2, $3, $4)',
    [version, name, checksum, oldestRelease],
  );
}

async function inTransaction(
  change: SchemaChange,
  work: (change: SchemaChange) => Promise<void>,
): Promise<void> {
  const { session, patience } = change;
  try {
    await session.query(`begin; set local lock_timeout = ${patience.waitMsMax}`);
    await work(change);
    await session.query('commit');
  } catch (error) {
    await session.query('rollback');
    throw error;
  }
}

/** The log says so often what an index waits for. */
const REPORT_MS = 10_000;

/**
 * Runs the statements of a migration one by one. Such a statement waits for transactions in progress, however long they
 * take, but neither reads nor writes wait for it. Each is safe to repeat, so an interrupted migration runs again.
 */
async function applyConcurrently(change: SchemaChange, subject: string, migration: Migration): Promise<void> {
  const { session, log } = change;
  const statements = concurrentStatements(migration);
  await session.query('set lock_timeout = 0; set statement_timeout = 0');
  try {
    for (const { sql, index } of statements) {
      const work = async () => {
        await dropInvalidIndex(session, index);
        await session.query(sql);
      };
      await whileWatched(change, REPORT_MS, work, ({ lock, reason }) => {
        log?.warn(`${subject} waits for ${lock}${reason}. The service does not wait for it.`);
      });
    }
    await record(change, migration);
  } finally {
    await session.query('reset lock_timeout; reset statement_timeout');
  }
}

const CONCURRENT =
  /^(?:create (?:unique )?index concurrently if not exists|drop index concurrently if exists) (\w+)\b/i;

/** @throws MigrationError if a statement is not one that may run outside of a transaction */
function concurrentStatements({ name, sql }: Migration): { readonly sql: string; readonly index: string }[] {
  return splitStatements(sql).map((statement) => {
    const index = CONCURRENT.exec(statement)?.[1];
    if (index !== undefined) return { sql: statement, index };
    throw new MigrationError(
      `Outside of a transaction, ${name} may only "create index concurrently if not exists" and "drop index concurrently if exists": ${statement.slice(0, 60)}…`,
    );
  });
}

/** Drops what an interrupted `create index concurrently` has left: an index that costs writes, and serves no query. */
async function dropInvalidIndex(session: Pick<pg.ClientBase, 'query'>, index: string): Promise<void> {
  const { rows } = await session.query(
    `select from pg_index join pg_class on pg_class.oid = indexrelid
      join pg_namespace on pg_namespace.oid = relnamespace and nspname = current_schema()
    where relname = $1 and not indisvalid`,
    [index.toLowerCase()],
  );
  if (rows.length > 0) await session.query(`drop index concurrently if exists ${index}`);
}
