import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg, { type PoolClient } from 'pg';
import type { Logger } from 'pino';
import { hostUrls } from '../host-urls.js';
import type { PostgresConnection } from './embedded.js';
import { Hosts } from './hosts.js';
import type { Database } from './tables.js';
import { tlsClient } from './tls-client.js';

/** A transaction on PostgreSQL, the system of record: its changes become visible and durable together. */
export type Tx = Transaction<Database>;

/** Runs a statement: on any connection of the pool, or in an open transaction. */
export type Db = Kysely<Database> | Tx;

export interface PostgresConfig {
  /** A URL, which may name several hosts, or the parts that an embedded server returns. */
  readonly connection: string | PostgresConnection;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Upper bound of the connections. */
  readonly poolMax: number;
  readonly log: Pick<Logger, 'warn'>;
}

/** A pool of connections to the system of record. */
export interface Postgres {
  /** For features that Kysely does not offer: binary parameters, locks of a session. */
  readonly pool: pg.Pool;
  readonly db: Kysely<Database>;
  /** Closes the connections once they are idle. */
  close(): Promise<void>;
}

/** A longer wait for a free or new connection becomes `store_unavailable`. */
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
/**
 * After this time without a packet, the operating system asks whether the server is still there. Its own default is two
 * hours, for which a query to a lost host would wait.
 */
const KEEP_ALIVE_MS = 10_000;
/**
 * The server ends a connection that does nothing in a transaction for this time: its process hangs, while others may
 * wait for its locks. The longest calculation in a transaction, a batch of slow events, is far shorter.
 */
const IDLE_IN_TRANSACTION_MS_MAX = 300_000;
/**
 * The first statement of a connection; it is not a parameter of the connection, because a connection pooler may refuse
 * parameters. It has a time-out, because a pooler accepts connections for a server that is away.
 */
const SETTINGS = {
  text: `set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS_MAX}`,
  query_timeout: CONNECT_TIMEOUT_MS,
};

const INT8_OID = 20;
const INT8_ARRAY_OID = 1016;

/**
 * Creates a pool; opens no connection yet. bigint arrives as a number (its exactness is asserted), numeric as text,
 * bytea as a Buffer.
 */
export function connectPostgres(config: PostgresConfig): Postgres {
  const { connection } = config;
  const { target, hosts } = targetOf(connection);
  const pool = new pg.Pool({
    ...target,
    application_name: config.applicationName,
    max: config.poolMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    onConnect: async (client) => {
      try {
        await client.query(SETTINGS);
        await hosts?.check(client);
      } catch (error) {
        hosts?.forget(client);
        throw error;
      }
    },
    types: { getTypeParser },
  });
  // A connection that breaks between two queries of a transaction fails its next query; without a listener, the event
  // itself would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let closing: Promise<void> | undefined;
  // The pool replaces an idle connection that breaks; without a listener the event would end the process.
  pool.on('error', (error: Error & { client?: unknown }) => {
    // The server may end before it has read that we close the connection.
    if (closing !== undefined) return;
    delete error.client; // the whole connection, which would fill the log
    config.log.warn({ err: error }, 'an idle PostgreSQL connection broke');
  });
  pool.on('release', (_error, client) => endUnlessIdle(client));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  // Not db.destroy(), which leaves the pool open when no query went through Kysely.
  return {
    pool,
    db,
    close: () => {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** Returns how the clients of a pool connect, and the hosts if there are several. */
function targetOf(connection: PostgresConfig['connection']): {
  readonly target: pg.PoolConfig;
  readonly hosts?: Hosts;
} {
  if (typeof connection !== 'string') return { target: connection };
  const { urls, Client } = tlsClient(hostUrls(connection));
  if (urls.length === 1) return { target: { connectionString: urls[0], Client } };
  const hosts = new Hosts(urls, Client);
  return { target: { connectionString: urls[0], Client: hosts.clients() }, hosts };
}

/**
 * Closes a connection that is still in a transaction; the pool then drops it. A rollback can fail, for example on a
 * full disk, and the connection would then refuse every later transaction.
 */
function endUnlessIdle(client: PoolClient): void {
  if (client.getTransactionStatus() !== IDLE) void client.end().catch(() => {});
}

/** The server's status of a connection without a transaction. */
const IDLE = 'I';

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export function transaction<T>(postgres: Postgres, work: (tx: Tx) => Promise<T>): Promise<T> {
  return postgres.db.transaction().execute(work);
}

/** Runs `read` on one snapshot of the whole database. */
export function onSnapshot<T>({ db }: Pick<Postgres, 'db'>, read: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}

/**
 * Returns for how long the oldest transaction of this database user has been open that uses a table of this schema; 0
 * if none is open.
 */
export async function oldestTransactionMs({ pool }: Pick<Postgres, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ age_ms: number }>(
    `select coalesce(max(extract(epoch from clock_timestamp() - xact_start) * 1000), 0)::bigint as age_ms
    from pg_stat_activity activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid() and exists (
      select from pg_locks lock
        join pg_class on pg_class.oid = lock.relation
        join pg_namespace on pg_namespace.oid = relnamespace and nspname = current_schema()
      where lock.pid = activity.pid
    )`,
  );
  return rows[0]?.age_ms ?? 0;
}

type TypeParser = (text: string) => unknown;

/** The parsers that come with `pg`; its types name only some of the oids that it knows. */
const defaultParser = pg.types.getTypeParser as (oid: number, format?: 'text' | 'binary') => TypeParser;
const parseInt8Array = defaultParser(INT8_ARRAY_OID);

function getTypeParser(oid: number, format?: 'text' | 'binary'): TypeParser {
  if (oid === INT8_OID) return safeInteger;
  if (oid === INT8_ARRAY_OID)
    return (text) => (parseInt8Array(text) as (string | null)[]).map(nullableInteger);
  return defaultParser(oid, format);
}

function nullableInteger(text: string | null): number | null {
  return text === null ? null : safeInteger(text);
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The bigint ${text} does not fit a number exactly.`);
  return value;
}
