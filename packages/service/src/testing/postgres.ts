import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { connectPostgres, type Postgres, type PostgresConnection } from '../platform/postgres/index.js';

export interface TestPostgres {
  readonly postgres: Postgres;
  readonly connectionString: string;
  drop(): Promise<void>;
}

const POOL_MAX = 10;

/** A migrated database of its own, cloned from the template. */
export async function createTestPostgres(): Promise<TestPostgres> {
  const template = inject('stores').postgres;
  const database = `test_${randomBytes(8).toString('hex')}`;
  await administer(template, `create database ${database} template ${template.database}`);
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
    drop: async () => {
      await postgres.close();
      await administer(template, `drop database if exists ${database} with (force)`);
    },
  };
}

/** As a URL; the socket's folder goes into the query, where a host name could not hold it. */
function connectionStringOf({ host, port, user, password, database }: PostgresConnection): string {
  const url = new URL(`postgresql://localhost:${port}/${database}`);
  url.username = user;
  url.password = password;
  url.searchParams.set('host', host);
  return url.toString();
}

/** Runs one statement beside the template, which must have no other users while it is cloned. */
async function administer(template: PostgresConnection, sql: string): Promise<void> {
  const client = new pg.Client({ ...template, database: 'postgres' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
