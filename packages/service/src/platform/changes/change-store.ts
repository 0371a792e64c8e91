import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Postgres, Tx } from '../postgres/index.js';

const noteOf = (keys: Iterable<number>) =>
  sql`insert into key_changes (keys) values (${`{${[...new Set(keys)].join()}}`}::integer[])`;

/**
 * Returns the beginning of a statement that changes what these keys stand for: `with noted as (…)`. So the change and
 * its note are one statement.
 *
 * @param keys numbers that `keyNumber` returned; a key may be repeated
 */
export function noting(keys: Iterable<number>): RawBuilder<unknown> {
  return sql`with noted as (${noteOf(keys)})`;
}

/**
 * Returns the text of a note for a prepared statement, to be its `with noted as (…)`.
 *
 * @param keys a parameter: a list of numbers, each once
 * @param from the tables and the condition that say whether it is written
 */
export function noteText(keys: string, from: string): string {
  return `insert into key_changes (keys) select ${keys}::integer[] ${from}`;
}

/** Notes the keys of a change that other statements of the transaction make. */
export async function noteKeys(tx: Tx, keys: readonly number[]): Promise<void> {
  if (keys.length > 0) await noteOf(keys).execute(tx);
}

/** Notes that anything may have changed, for rare operations that do not know their keys. */
export async function noteAllKeys(tx: Tx): Promise<void> {
  await sql`insert into key_changes (keys) values (null)`.execute(tx);
}

/** The changes that were committed between two snapshots of the database. */
export interface KeyChanges {
  /** The later snapshot, as PostgreSQL writes it. */
  readonly snapshot: string;
  /** Undefined when all keys may have changed. */
  readonly keys: readonly number[] | undefined;
}

interface ChangesRow {
  readonly snapshot: string;
  readonly keys: string | null;
  readonly all_changed: boolean;
}

/**
 * A transaction is either visible in a snapshot or not, so each change is read exactly once, in whatever order
 * transactions began and ended. Processes of release 0.1.0 note nothing: while one is a member, everything may change.
 */
const CHANGES = `
    select pg_current_snapshot()::text as snapshot, string_agg(array_to_string(keys, ','), ',') as keys,
      coalesce(bool_or(keys is null), false) or exists (
        select from lease_members
        where release is null and expires_at_ms >= (extract(epoch from clock_timestamp()) * 1000)::bigint
      ) as all_changed
    from key_changes
    where xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(xid, $1::pg_snapshot)`;

/** Returns the changes between a snapshot and that of the transaction. */
export async function readChanges(tx: Tx, since: string): Promise<KeyChanges> {
  const { rows } = await tx.executeQuery<ChangesRow>(CompiledQuery.raw(CHANGES, [since]));
  const row = rows[0];
  if (row === undefined) throw new Error('an aggregate returned no row');
  const { snapshot, keys, all_changed: isAll } = row;
  if (isAll) return { snapshot, keys: undefined };
  return { snapshot, keys: keys === null || keys === '' ? [] : keys.split(',').map(Number) };
}

/** Returns the snapshot of the transaction, from which on changes can be read. */
export async function readSnapshot(tx: Tx): Promise<string> {
  const { rows } = await sql<{ snapshot: string }>`select pg_current_snapshot()::text as snapshot`.execute(
    tx,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('a select without a table returned no row');
  return row.snapshot;
}

/** Deletes the notes of all transactions that are older than the oldest one that ran at the snapshot. */
export async function deleteNotesBefore({ pool }: Pick<Postgres, 'pool'>, snapshot: string): Promise<void> {
  await pool.query('delete from key_changes where xid < pg_snapshot_xmin($1::pg_snapshot)', [snapshot]);
}
