import type pg from 'pg';
import { readMigrations } from '../migration-files.js';
import { PostgresUnavailableError } from './binaries.js';
import type { Postgres } from './connect.js';

/**
 * Checks that a server which the operator has configured can be used, before anything is written to it.
 *
 * @param place host and database, without credentials
 * @throws PostgresUnavailableError with one sentence that says what is wrong
 */
export async function checkPostgresServer({ pool }: Pick<Postgres, 'pool'>, place: string): Promise<void> {
  const problem = await findProblem(pool);
  if (problem === undefined) return;
  throw new PostgresUnavailableError(`TOLLGATE_DATABASE_URL cannot be used (${place}): ${problem}.`);
}

async function findProblem(pool: pg.Pool): Promise<string | undefined> {
  if (!(await keepsSessions(pool)))
    return 'a connection pooler in transaction mode is in between, and Tollgate needs session mode, because it keeps locks, settings and prepared statements in its sessions';
  const forbidden = await forbiddenRelation(pool);
  if (forbidden === undefined) return undefined;
  const { rows } = await pool.query<{ role: string }>('select current_user as role');
  return `the role "${rows[0]?.role}" lacks rights on ${forbidden}: grant it the rights in docs/guides/postgresql.md`;
}

/** A pooler that is used by others too may give a client the same session several times in a row. */
const ROUNDS = 5;

/**
 * Returns whether each connection has a session of its own. A pooler in transaction mode has another session at hand,
 * or the same one for two connections, while one of them is in a transaction.
 */
async function keepsSessions(pool: pg.Pool): Promise<boolean> {
  const own = await pool.connect();
  try {
    const other = await pool.connect();
    try {
      const first = await sessionOf(own);
      for (let round = 0; round < ROUNDS; round += 1) {
        await other.query('begin');
        const isKept = (await sessionOf(other)) !== first && (await sessionOf(own)) === first;
        await other.query('rollback');
        if (!isKept) return false;
      }
      return true;
    } finally {
      other.release();
    }
  } finally {
    own.release();
  }
}

async function sessionOf(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

const CREATED = /^create (?:table|sequence) (\w+)/gm;

/**
 * Returns a table or sequence of this release that the role may not use, if there is one. Tables that are not there yet
 * do not count, because this role may create them.
 */
async function forbiddenRelation(pool: pg.Pool): Promise<string | undefined> {
  const created = readMigrations('postgres').flatMap(({ sql }) => [...sql.matchAll(CREATED)]);
  const { rows } = await pool.query<{ name: string }>(
    `select case relkind when 'S' then 'the sequence ' else 'the table ' end || relname as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace and nspname = current_schema()
    where (relname = 'schema_migrations' and not has_table_privilege(pg_class.oid, 'select'))
      or relname = any($1::text[]) and not case relkind
        when 'S' then has_sequence_privilege(pg_class.oid, 'usage')
        else has_table_privilege(pg_class.oid, 'select') and has_table_privilege(pg_class.oid, 'insert')
          and has_table_privilege(pg_class.oid, 'update') and has_table_privilege(pg_class.oid, 'delete')
      end
    order by relname limit 1`,
    [created.map(([, name]) => name)],
  );
  return rows[0]?.name;
}
