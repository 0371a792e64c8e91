import type pg from 'pg';
import { connectionProblem } from '../connection-problem.js';
import { readMigrations, type StoreName } from '../migration-files.js';
import { PostgresUnavailableError } from './binaries.js';
import type { Postgres } from './connect.js';

/** In the form of `server_version_num`. */
const VERSION_MIN = 150_000;

/** The state of a connection to a configured server. */
interface ServerState {
  readonly role: string;
  readonly version: string;
  readonly version_number: number;
  /** Null if no schema of the search path exists. */
  readonly schema: string | null;
  readonly search_path: string;
}

/** A database that the operator has configured. */
export interface ConfiguredDatabase {
  /** The setting that contains its URL. */
  readonly setting: 'TOLLGATE_DATABASE_URL' | 'TOLLGATE_DIRECTORY_URL';
  /** Host and database, without credentials. */
  readonly place: string;
  /** Says which tables the database has. */
  readonly store: Extract<StoreName, 'postgres' | 'directory'>;
}

/**
 * Checks that a server which the operator has configured can be used, before anything is written to it.
 *
 * @throws PostgresUnavailableError with one sentence that says what is wrong
 */
export async function checkPostgresServer(
  { pool }: Pick<Postgres, 'pool'>,
  { setting, place, store }: ConfiguredDatabase,
): Promise<void> {
  const problem = await findProblem(pool, store).catch(connectionProblem);
  if (problem === undefined) return;
  throw new PostgresUnavailableError(`${setting} cannot be used (${place}): ${problem}.`);
}

async function findProblem(pool: pg.Pool, store: ConfiguredDatabase['store']): Promise<string | undefined> {
  const { rows } = await pool.query<ServerState>(
    `select current_user as role, current_setting('server_version') as version,
      current_setting('server_version_num')::integer as version_number, current_schema() as schema,
      current_setting('search_path') as search_path`,
  );
  const [state] = rows;
  if (state === undefined) return 'the server has returned no row';
  const { role, version, version_number, schema, search_path } = state;
  if (version_number < VERSION_MIN)
    return `the server has version ${version}, and Tollgate needs version 15 or later`;
  if (schema === null)
    return `the search_path (${search_path}) names no schema that exists and that the role "${role}" may use`;
  if (!(await keepsSessions(pool)))
    return 'a connection pooler in transaction mode is in between, and Tollgate needs session mode, because it keeps locks, settings and prepared statements in its sessions';
  const forbidden = await forbiddenRelation(pool, store);
  if (forbidden === undefined) return undefined;
  return `the role "${role}" lacks rights on ${forbidden}: grant it the rights in docs/guides/postgresql.md`;
}

/** A pooler that is used by others too may give a client the same session several times in a row. */
const ROUNDS = 20;

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
async function forbiddenRelation(
  pool: pg.Pool,
  store: ConfiguredDatabase['store'],
): Promise<string | undefined> {
  const created = readMigrations(store).flatMap(({ sql }) => [...sql.matchAll(CREATED)]);
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
