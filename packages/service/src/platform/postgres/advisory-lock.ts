import { setTimeout as delay } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { PoolClient } from 'pg';
import { unlessAborted } from '../wait.js';
import type { Postgres, Tx } from './connect.js';

/**
 * SQL for a number of the current schema. It is a part of the key of every advisory lock, because PostgreSQL has one
 * set of keys for the whole database, and installations in two schemas must not wait for each other. It is 0 in
 * `public`, so that processes of earlier versions, whose keys lack it, share locks with this one. It is also 0 if no
 * schema of the search path exists, because a key that is null would lock nothing.
 */
export const SCHEMA_NUMBER = `coalesce(hashtextextended(nullif(current_schema(), 'public'), 0), 0)`;

/**
 * Returns SQL for the key of the advisory lock of that name in the current schema.
 *
 * @param name text, or SQL for it
 * @param number distinguishes locks of one name
 */
export function lockKey(
  name: string | RawBuilder<unknown>,
  number: number | RawBuilder<unknown> = sql.lit(0),
): RawBuilder<number> {
  return sql<number>`(hashtextextended(${name}, ${number}) # ${sql.raw(SCHEMA_NUMBER)})`;
}

/**
 * Waits for the advisory lock of that name, and holds it until `tx` ends. One transaction of the whole installation can
 * hold it.
 */
export async function lockUntilCommit(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKey(name)})`.execute(tx);
}

/**
 * Takes the lock of `lockUntilCommit` if no other transaction holds or shares it; returns whether it did. It never
 * waits, so that later transactions need not wait behind it.
 */
export async function tryLockUntilCommit(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${lockKey(name)}) as locked
  `.execute(tx);
  return rows[0]?.locked === true;
}

/** Takes a shared lock. Shared locks wait only for an exclusive one of `lockUntilCommit`, and the other way round. */
export async function shareLockUntilCommit(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${lockKey(name)})`.execute(tx);
}

/** The session that holds a lock. Its user must leave the lock alone, and begin no transaction. */
export type LockHolder = Pick<PoolClient, 'query'>;

/**
 * Waits for the advisory lock of that name, which one session of the whole installation can hold, and runs `work`
 * meanwhile. The lock ends with its connection, so a killed holder blocks no other session.
 */
export function withAdvisoryLock<T>(
  postgres: Pick<Postgres, 'pool' | 'db'>,
  name: string,
  work: (holder: LockHolder) => Promise<T>,
): Promise<T> {
  return whileLocked(
    postgres,
    sql`select true as locked from pg_advisory_lock(${lockKey(name)})`,
    name,
    work,
  ) as Promise<T>;
}

/** The same, but returns undefined at once if another session holds the lock. */
export function tryAdvisoryLock<T>(
  postgres: Pick<Postgres, 'pool' | 'db'>,
  name: string,
  work: (holder: LockHolder) => Promise<T>,
): Promise<T | undefined> {
  return whileLocked(postgres, sql`select pg_try_advisory_lock(${lockKey(name)}) as locked`, name, work);
}

/** A free lock is noticed after this time at the latest. */
const LOCK_POLL_MS = 100;

/**
 * Like `withAdvisoryLock`, but asks for the lock again and again, without a connection in between. So any number can
 * wait for hours; and the holder can run `create index concurrently`, which waits for all statements that have begun
 * before.
 *
 * @param signal ends the wait, with its reason
 */
export async function pollAdvisoryLock<T>(
  postgres: Pick<Postgres, 'pool' | 'db'>,
  name: string,
  work: (holder: LockHolder) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    const done = await tryAdvisoryLock(postgres, name, async (holder) => ({ result: await work(holder) }));
    if (done !== undefined) return done.result;
    await unlessAborted(delay(LOCK_POLL_MS), signal);
  }
}

async function whileLocked<T>(
  { pool, db }: Pick<Postgres, 'pool' | 'db'>,
  lock: RawBuilder<unknown>,
  name: string,
  work: (holder: LockHolder) => Promise<T>,
): Promise<T | undefined> {
  const client = await pool.connect();
  const run = async (statement: RawBuilder<unknown>) => {
    const { sql: text, parameters } = statement.compile(db);
    return (await client.query<{ locked: boolean }>(text, [...parameters])).rows[0];
  };
  let broken = false;
  try {
    if ((await run(lock))?.locked !== true) return undefined;
    try {
      return await work(client);
    } finally {
      await run(sql`select pg_advisory_unlock(${lockKey(name)})`);
    }
  } catch (error) {
    broken = true; // the lock may still be held: the connection must not be used again
    throw error;
  } finally {
    client.release(broken);
  }
}
