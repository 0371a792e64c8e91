import { sql } from 'kysely';
import { MigrationError } from '../../platform/migration-files.js';
import { type Db, isForbidden, type Postgres } from '../../platform/postgres/index.js';
import { MOVING_NUMBERS } from './table-owners.js';

/**
 * Count of the numbers that each cell may give out in one identity column: 128 cells share the positive 32-bit
 * integers. It is a multiple of 64, so that a cell's projects are spread evenly over the slots (`no` modulo 64).
 */
export const NUMBERS_PER_CELL = 2 ** 24;

/** A table that has given out a number outside of the cell's range. */
export interface ForeignNumber {
  readonly table: string;
  readonly last: number;
}

/** Returns the number of the last migration that was applied to a cell. */
export async function schemaVersion({ db }: Pick<Postgres, 'db'>): Promise<number> {
  const { rows } = await sql<{ version: number }>`
    select coalesce(max(version), 0) as version from schema_migrations
  `.execute(db);
  return rows[0]?.version ?? 0;
}

/** Returns whether this installation has given out any number. */
export async function hasGivenNumbers({ db }: Pick<Postgres, 'db'>): Promise<boolean> {
  for (const { table, column } of MOVING_NUMBERS) {
    if ((await readSequence(db, table, column)).last !== null) return true;
  }
  return false;
}

/**
 * Confines the identity columns of a cell to its own range of numbers; a repeated call changes nothing. Returns the
 * first table that has given out a number outside of the range, and then changes nothing.
 *
 * @throws MigrationError if the columns must be changed, and the role may not change them
 */
export async function confineNumbers(
  { db }: Pick<Postgres, 'db'>,
  cellNumber: number,
): Promise<ForeignNumber | undefined> {
  const below = cellNumber * NUMBERS_PER_CELL;
  const end = below + NUMBERS_PER_CELL - 1;
  return db.transaction().execute(async (tx) => {
    for (const { table, column } of MOVING_NUMBERS) {
      const { last } = await readSequence(tx, table, column);
      if (last !== null && (last <= below || last > end)) return { table, last };
    }
    for (const { table, column } of MOVING_NUMBERS)
      await confine(tx, { table, column, first: below + 1, end }).catch(explain);
    return undefined;
  });
}

function explain(error: unknown): never {
  if (!isForbidden(error)) throw error;
  throw new MigrationError(
    `The identity columns are not limited to the numbers of this cell, and this role may not change them (${error.message}): start one process once with the role that owns the tables.`,
  );
}

interface Sequence {
  /** Null while no number was given out. */
  readonly last: number | null;
  readonly first: number;
  readonly end: number;
}

async function readSequence(db: Db, table: string, column: string): Promise<Sequence> {
  const { rows } = await sql<Sequence>`
    select last_value as last, start_value as first, max_value as end from pg_sequences
    where format('%I.%I', schemaname, sequencename) = pg_get_serial_sequence(${table}, ${column})
  `.execute(db);
  if (rows[0] === undefined) throw new Error(`${table}.${column} has no sequence`);
  return rows[0];
}

async function confine(
  tx: Db,
  { table, column, first, end }: { table: string; column: string; first: number; end: number },
): Promise<void> {
  const current = await readSequence(tx, table, column);
  if (current.first === first && current.end === end) return;
  const restart = current.last === null ? sql`restart with ${sql.lit(first)}` : sql``;
  await sql`
    alter table ${sql.table(table)} alter column ${sql.ref(column)}
    set start with ${sql.lit(first)} set maxvalue ${sql.lit(end)} ${restart}
  `.execute(tx);
}
