import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import {
  applyClickHouseMigrations,
  type ClickHouse,
  connectClickHouse,
} from '../platform/clickhouse/index.js';

export interface TestClickHouse {
  readonly clickhouse: ClickHouse;
  /** URL of the database itself, as `TOLLGATE_CLICKHOUSE_URL` would name it. */
  readonly url: string;
  readonly database: string;
  drop(): Promise<void>;
}

/** Creates a migrated database on the run's ClickHouse server. */
export async function createTestClickHouse(): Promise<TestClickHouse> {
  const server = inject('stores').clickhouseUrl;
  const database = `test_${randomBytes(8).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${database}`);
  const url = `${server}/${database}`;
  const clickhouse = connectClickHouse({ url });
  await applyClickHouseMigrations(clickhouse);
  return {
    clickhouse,
    url,
    database,
    drop: async () => {
      await clickhouse.close();
      await administer(server, `DROP DATABASE IF EXISTS ${database} SYNC`);
    },
  };
}

async function administer(url: string, sql: string): Promise<void> {
  const clickhouse = connectClickHouse({ url });
  try {
    await clickhouse.command(sql);
  } finally {
    await clickhouse.close();
  }
}
