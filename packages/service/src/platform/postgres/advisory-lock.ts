import { sql } from 'kysely';
import type { Postgres, Tx } from './connect.js';

/**
 * Waits for the advisory lock of that name, and holds it to the end of `tx`: one transaction of the whole
 * database can.
 */
export async function lockUntilCommit(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}

/** Locks as `lockUntilCommit` does, but shared: only an exclusive lock waits for shared ones. */
export async function shareLockUntilCommit(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.execute(tx);
}

/**
 * Runs `work` while holding the advisory lock of that name, which one session of the whole database can hold;
 * waits for it. The lock ends with its connection, so a killed holder blocks no other session.
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
