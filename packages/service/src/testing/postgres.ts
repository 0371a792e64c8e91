import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { connectPostgres, type Postgres, type PostgresConnection } from '../platform/postgres/index.js';

export interface TestPostgres {
  readonly postgres: Postgres;
  readonly connectionString: string;
  /** Runs one statement on a connection of its own, which is none of the pool's: for tests that cut those. */
  beside(sql: string): Promise<unknown[]>;
  drop(): Promise<void>;
}

const POOL_MAX = 10;

/** A migrated database of its own, cloned from the template. */
export async function createTestPostgres(): Promise<TestPostgres> {
  const template = inject('stores').postgres;
  // Beside the template, which must have no other users while it is cloned.
  const server = { ...template, database: 'postgres' };
  const database = `test_${randomBytes(8).toString('hex')}`;
  await runAlone(server, `create database ${database} template ${template.database}`);
  const connection = { ...template, database };
  const postgres = connectPostgres({
    connection,
    applicationName: 'test',
    poolMax: POOL_MAX,
    log: pino({ level: 'error' }),
  });
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

/** The connection as a URL; the socket's folder goes into the query, because a host name could not hold it. */
function connectionStringOf({ host, port, user, password, database }: PostgresConnection): string {
  const url = new URL(`postgresql://localhost:${port}/${database}`);
  url.username = user;
  url.password = password;
  url.searchParams.set('host', host);
  return url.toString();
}

async function runAlone(connection: PostgresConnection, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
