import { sql } from 'kysely';
import type { Postgres, Tx } from './connect.js';

/**
 * Waits for the advisory lock of that name, and holds it until `tx` ends. One transaction of the whole database can
 * hold it.
 */
export async function lockUntilCommit(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}

/**
 * Takes the lock of `lockUntilCommit` if no other transaction holds or shares it; returns whether it did. It never
 * waits, so that later transactions need not wait behind it.
 */
export async function tryLockUntilCommit(tx: Tx, name: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked
  `.execute(tx);
  return rows[0]?.locked === true;
}

/** Takes a shared lock. Shared locks wait only for an exclusive one of `lockUntilCommit`, and the other way round. */
export async function shareLockUntilCommit(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.execute(tx);
}

/**
 * Waits for the advisory lock of that name, which one session of the whole database can hold, and runs `work`
 * meanwhile. The lock ends with its connection, so a killed holder blocks no other session.
 */
export async function withAdvisoryLock<T>(
  postgres: Pick<Postgres, 'pool'>,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = await postgres.pool.connect();
  let broken = false;
  try {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
    try {
      return await work();
    } finally {
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
    }
  } catch (error) {
    broken = true; // the lock may still be held: the connection must not be used again
    throw error;
  } finally {
    client.release(broken);
  }
}
