import { sql } from 'kysely';
import type { Postgres } from '../../platform/postgres/index.js';

type Reader = Pick<Postgres, 'db'>;

/** A session as it is stored: both tokens only as hashes. */
export interface StoredSession {
  readonly idHash: Buffer;
  readonly keyHash: Buffer;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/**
 * Stores a session, and deletes those that have ended, and the oldest of its key beyond `ofKeyMax`. Sessions that are
 * stored at the same time do not count each other: the next one deletes what they have too many.
 */
export async function insertSession({ db }: Reader, session: StoredSession, ofKeyMax: number): Promise<void> {
  await sql`
    with ended as (delete from console_sessions where expires_at <= ${session.createdAt}),
    superseded as (
      delete from console_sessions where id_hash in (
        select id_hash from console_sessions where key_hash = ${session.keyHash}
        order by created_at desc, id_hash offset ${ofKeyMax - 1}
      )
    )
    insert into console_sessions (id_hash, key_hash, created_at, expires_at)
    values (${session.idHash}, ${session.keyHash}, ${session.createdAt}, ${session.expiresAt})
  `.execute(db);
}

/** Returns the hash of the key of a session; undefined when the session does not exist any more. */
export async function keyHashOf({ db }: Reader, idHash: Buffer, atS: number): Promise<Buffer | undefined> {
  const { rows } = await sql<{ key_hash: Buffer }>`
    select key_hash from console_sessions where id_hash = ${idHash} and expires_at > ${atS}
  `.execute(db);
  return rows[0]?.key_hash;
}

export async function deleteSession({ db }: Reader, idHash: Buffer): Promise<void> {
  await sql`delete from console_sessions where id_hash = ${idHash}`.execute(db);
}
