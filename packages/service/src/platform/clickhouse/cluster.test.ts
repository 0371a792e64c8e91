import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { textRows } from './blocks.testing.js';
import { readCluster } from './cluster.js';
import { openClickHouseServer } from './open-server.js';
import type { ClickHouse } from './port.js';
import { connectClickHouse } from './server.js';
import { quorumSettings } from './sql.js';

let migrated: TestClickHouse;
let empty: ClickHouse;
let emptyUrl: string;
beforeAll(async () => {
  migrated = await createTestClickHouse();
  const database = `${migrated.database}_empty`;
  await migrated.clickhouse.command(`CREATE DATABASE ${database}`);
  emptyUrl = migrated.url.replace(migrated.database, database);
  empty = connectClickHouse({ url: emptyUrl });
});
afterAll(async () => {
  await empty.close();
  await migrated.clickhouse.command(`DROP DATABASE ${migrated.database}_empty SYNC`);
  await migrated.drop();
});

/** Returns a database in which one query about the server has another result. */
function serverWith(about: string, rows: readonly object[]): Pick<ClickHouse, 'query'> {
  return {
    query: (sql, params) => (sql.includes(about) ? Promise.resolve(rows as never) : empty.query(sql, params)),
  };
}

const replicatedTables = () => serverWith('system.tables', [{ engine: 'ReplicatedMergeTree' }]);
const cloud = () => serverWith('cloud_mode', [{ name: 'cloud_mode' }]);

describe('the cluster of a server', () => {
  test('is read with its replicas', async () => {
    const cluster = { name: 'replicas', isCloud: false, replicas: 2 };
    expect(await readCluster(empty, 'replicas')).toEqual(cluster);
    expect(await readCluster(replicatedTables(), 'replicas')).toEqual(cluster);
    expect(await readCluster(cloud(), 'replicas')).toEqual({ ...cluster, isCloud: true });
  });

  test('is not needed by a server without replicas', async () => {
    expect(await readCluster(empty, undefined)).toBeUndefined();
    expect(await readCluster(migrated.clickhouse, undefined)).toBeUndefined();
  });

  test.each([
    [
      'a name that the server does not know',
      () => readCluster(empty, 'nowhere'),
      'TOLLGATE_CLICKHOUSE_CLUSTER is nowhere, but system.clusters of the server has no cluster of that name.',
    ],
    [
      'several shards',
      () => readCluster(empty, 'shards'),
      'The cluster shards of ClickHouse has 2 shards, but Tollgate needs one shard with replicas: use cells to share out tenants.',
    ],
    [
      'an installation that is not replicated',
      () => readCluster(migrated.clickhouse, 'replicas'),
      'The tables in ClickHouse are not replicated, and cannot be made so: with TOLLGATE_CLICKHOUSE_CLUSTER, use an empty database, and fill it with tollgate rebuild.',
    ],
    [
      'replicated tables without a name of the cluster',
      () => readCluster(replicatedTables(), undefined),
      'The tables in ClickHouse are replicated: set TOLLGATE_CLICKHOUSE_CLUSTER to the name of their cluster.',
    ],
    [
      'ClickHouse Cloud without a name of the cluster',
      () => readCluster(cloud(), undefined),
      'This server is ClickHouse Cloud: set TOLLGATE_CLICKHOUSE_CLUSTER=default.',
    ],
    [
      'a database that replicates definitions itself',
      () => readCluster(serverWith('system.databases', [{ engine: 'Replicated' }]), 'replicas'),
      'The database in ClickHouse has the engine Replicated: with TOLLGATE_CLICKHOUSE_CLUSTER, create it with the engine Atomic on every replica.',
    ],
    [
      'a server without macros',
      () => readCluster(serverWith('system.macros', [{ macro: 'shard' }]), 'replicas'),
      'The configuration of the ClickHouse server lacks the macro replica, which replicated tables need.',
    ],
    [
      'a replica that was set up anew',
      () => readCluster(serverWith('clusterAllReplicas', [{ name: 'schema_migrations' }]), 'replicas'),
      'This replica of ClickHouse lacks the tables that other replicas have: create them as they are there, and start again.',
    ],
  ])('is refused in one sentence: %s', async (_case, read, sentence) => {
    await expect(read()).rejects.toMatchObject({ name: 'ClickHouseUnavailableError', message: sentence });
  });
});

describe('a replica of a cluster', () => {
  let replica: ClickHouse;
  beforeAll(async () => {
    replica = await openClickHouseServer({ url: emptyUrl, clusterName: 'replicas', place: 'test' });
    await empty.command('CREATE TABLE here (text String) ENGINE = MergeTree ORDER BY text');
    await empty.insertRows('here', ['text'], { bytes: textRows('text', ['a', 'b']) }, 2, 't1');
  });
  afterAll(() => replica.close());

  test('reads system tables of all replicas about its own database, without those that are lost', async () => {
    const parts = (clickhouse: ClickHouse) =>
      clickhouse.query(`SELECT table, rows FROM ${clickhouse.systemTable('parts')} WHERE active`);
    expect(replica.systemTable('parts')).toContain('clusterAllReplicas');
    expect(await parts(replica)).toEqual([{ table: 'here', rows: '2' }]);
    expect(await parts(replica)).toEqual(await parts(empty));
    expect(await replica.query(`SELECT table FROM ${replica.systemTable('mutations')}`)).toEqual([]);
    expect([await empty.reachesAll(), await replica.reachesAll()]).toEqual([true, false]);
  });

  test('fetches what it lacks before an up-to-date read, and not before others', async () => {
    expect(await replica.query('SELECT count() AS rows FROM here')).toEqual([{ rows: '2' }]);
    // This table has no replicas, so the request to fetch is refused.
    await expect(replica.upToDate(['here'])).rejects.toThrow('not replicated');
    expect(await (await empty.upToDate(['here'])).query('SELECT count() AS rows FROM here')).toEqual([
      { rows: '2' },
    ]);
  });

  test('creates tables on the cluster, and refuses what it could not', async () => {
    const create = replica.command('CREATE TABLE more (n Int8) ENGINE = MergeTree ORDER BY n');
    // The engine of tests has no Keeper.
    await expect(create).rejects.toMatchObject({ type: 'QUERY_IS_PROHIBITED' });
    await expect(replica.command('RENAME TABLE here TO there')).rejects.toMatchObject({
      name: 'MigrationError',
    });
  });
});

test('an insert is acknowledged once most replicas have it', () => {
  const quorumOf = (replicas: number) =>
    quorumSettings({ name: 'c', isCloud: false, replicas }).insert_quorum;
  expect([1, 2, 3, 4, 5].map(quorumOf)).toEqual(['1', '2', '2', '3', '3']);
  expect(quorumSettings({ name: 'default', isCloud: true, replicas: 3 })).toEqual({});
  expect(quorumSettings(undefined)).toEqual({});
});
