import { randomBytes } from 'node:crypto';
import { type ClickHouse, connectClickHouse, openClickHouseServer } from '../platform/clickhouse/index.js';
import { hostUrls } from '../platform/host-urls.js';

const url = process.env.TOLLGATE_TEST_CLICKHOUSE_URL;
const name = process.env.TOLLGATE_TEST_CLICKHOUSE_CLUSTER;

/**
 * A real cluster for tests, if one is given: `http://user:password@one:8123,two:8123`, without a database, and its name
 * in `system.clusters`. The user may create databases.
 */
export const givenCluster = url === undefined || name === undefined ? undefined : { url, name };

/** Returns the title of tests that need the cluster; it says so when they are skipped. */
export function clusterTitle(title: string): string {
  const missing = 'which TOLLGATE_TEST_CLICKHOUSE_URL and TOLLGATE_TEST_CLICKHOUSE_CLUSTER do not name';
  return givenCluster === undefined ? `${title}, ${missing}` : title;
}

export interface ClusterDatabase {
  readonly clickhouse: ClickHouse;
  /** URL of the database, as `TOLLGATE_CLICKHOUSE_URL` would name it. */
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database on all replicas of the cluster. */
export async function createClusterDatabase(): Promise<ClusterDatabase> {
  if (givenCluster === undefined) throw new Error('no cluster is given');
  const database = `tollgate_test_${randomBytes(6).toString('hex')}`;
  await administer(givenCluster.url, `CREATE DATABASE ${database}`);
  const databaseUrl = `${givenCluster.url}/${database}`;
  const clickhouse = await openClickHouseServer({
    url: databaseUrl,
    clusterName: givenCluster.name,
    place: 'test',
  });
  return {
    clickhouse,
    url: databaseUrl,
    drop: async () => {
      await clickhouse.close();
      await administer(givenCluster.url, `DROP DATABASE IF EXISTS ${database} SYNC`);
    },
  };
}

/** Runs a statement about a database on every host that the URL names. */
async function administer(urls: string, sql: string): Promise<void> {
  for (const host of hostUrls(urls)) {
    const clickhouse = connectClickHouse({ url: host });
    try {
      await clickhouse.command(sql);
    } finally {
      await clickhouse.close();
    }
  }
}
