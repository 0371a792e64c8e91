import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { connectPostgres, type Postgres, type PostgresConnection } from '../platform/postgres/index.js';

export interface TestPostgres {
  readonly postgres: Postgres;
  readonly connectionString: string;
  /** Runs one statement on a connection outside the pool, for tests that kill the pool's connections. */
  beside(sql: string): Promise<unknown[]>;
  drop(): Promise<void>;
}

const POOL_MAX = 10;

/** Creates a migrated database, cloned from the template, or an empty one. */
export async function createTestPostgres(options: { isEmpty?: boolean } = {}): Promise<TestPostgres> {
  const template = inject('stores').postgres;
  // Another database than the template, which must have no other users while it is cloned.
  const server = { ...template, database: 'postgres' };
  const database = `test_${randomBytes(8).toString('hex')}`;
  const source = options.isEmpty === true ? 'template1' : template.database;
  await runAlone(server, `create database ${database} template ${source} strategy file_copy`);
  const connection = { ...template, database };
  const postgres = connectTo(connection);
  return {
    postgres,
    connectionString: connectionStringOf(connection),
    beside: (sql) => runAlone(connection, sql),
    drop: async () => {
      await postgres.close();
      await runAlone(server, `drop database if exists ${database} with (force)`);
    },
  };
}

/** Creates an empty schema in a database of tests. Its `drop` closes the connections, and keeps the database. */
export async function createTestSchema(database: TestPostgres, schema: string): Promise<TestPostgres> {
  await database.beside(`create schema ${schema}`);
  const url = new URL(database.connectionString);
  url.searchParams.set('options', `-c search_path=${schema}`);
  const connectionString = url.toString();
  const postgres = connectTo(connectionString);
  return {
    postgres,
    connectionString,
    beside: (sql) => runAlone({ connectionString }, sql),
    drop: () => postgres.close(),
  };
}

/** Connects to a database of tests, for example with another role. */
export function connectTo(connection: string | PostgresConnection, applicationName = 'test'): Postgres {
  return connectPostgres({
    connection,
    applicationName,
    poolMax: POOL_MAX,
    log: pino({ level: 'error' }),
  });
}

/** Returns the connection as a URL; the socket's folder is in the query, because a host name cannot contain it. */
export function connectionStringOf({ host, port, user, password, database }: PostgresConnection): string {
  const url = new URL(`postgresql://localhost:${port}/${database}`);
  url.username = user;
  url.password = password;
  url.searchParams.set('host', host);
  return url.toString();
}

async function runAlone(connection: pg.ClientConfig, sql: string): Promise<unknown[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
