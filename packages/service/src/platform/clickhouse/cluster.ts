import { readMigrations } from '../migration-files.js';
import { type ClickHouse, ClickHouseUnavailableError, type Cluster } from './port.js';
import { systemTableOfAll } from './sql.js';
import { tablesOf } from './statements.js';

type Reader = Pick<ClickHouse, 'query'>;

/** Macros in the paths of replicated tables. */
const MACROS = ['shard', 'replica'] as const;

/**
 * Reads the cluster of a server, and checks that the database fits it.
 *
 * @param name of the cluster; undefined for a server without replicas
 * @throws ClickHouseUnavailableError with one sentence that says what is wrong
 */
export async function readCluster(
  clickhouse: Reader,
  name: string | undefined,
): Promise<Cluster | undefined> {
  const isCloud = await readIsCloud(clickhouse);
  const tables = await countTables(clickhouse);
  if (name === undefined) {
    if (isCloud) throw problem('This server is ClickHouse Cloud: set TOLLGATE_CLICKHOUSE_CLUSTER=default.');
    if (tables.replicated === 0) return undefined;
    throw problem(
      'The tables in ClickHouse are replicated: set TOLLGATE_CLICKHOUSE_CLUSTER to the name of their cluster.',
    );
  }
  const replicas = await countReplicas(clickhouse, name);
  if (tables.single > 0) {
    throw problem(
      'The tables in ClickHouse are not replicated, and cannot be made so: with TOLLGATE_CLICKHOUSE_CLUSTER, use an empty database, and fill it with tollgate rebuild.',
    );
  }
  const cluster = { name, isCloud, replicas };
  if (!isCloud) {
    await checkServer(clickhouse);
    if (tables.replicated === 0) await checkIsNew(clickhouse, cluster);
  }
  return cluster;
}

async function readIsCloud(clickhouse: Reader): Promise<boolean> {
  const rows = await clickhouse.query(
    `SELECT name FROM system.settings WHERE name = 'cloud_mode' AND value IN ('1', 'true')`,
  );
  return rows.length > 0;
}

/** Counts the tables of this service, its copies for projects included, by whether they are replicated. */
async function countTables(clickhouse: Reader): Promise<{ replicated: number; single: number }> {
  const names = ['schema_migrations', ...tablesOf(readMigrations('clickhouse'))];
  const rows = await clickhouse.query<{ engine: string }>(
    `SELECT engine FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
     AND match(name, {pattern:String})`,
    { pattern: `^(${names.join('|')})(_[0-9]+)?$` },
  );
  const replicated = rows.filter(({ engine }) => /^(Replicated|Shared)/.test(engine)).length;
  return { replicated, single: rows.length - replicated };
}

/** Returns the number of replicas. @throws ClickHouseUnavailableError unless the cluster has exactly one shard */
async function countReplicas(clickhouse: Reader, name: string): Promise<number> {
  const rows = await clickhouse.query<{ shard: number }>(
    'SELECT shard_num AS shard FROM system.clusters WHERE cluster = {name:String}',
    { name },
  );
  const shards = new Set(rows.map(({ shard }) => shard)).size;
  if (shards === 1) return rows.length;
  throw problem(
    shards === 0
      ? `TOLLGATE_CLICKHOUSE_CLUSTER is ${name}, but system.clusters of the server has no cluster of that name.`
      : `The cluster ${name} of ClickHouse has ${shards} shards, but Tollgate needs one shard with replicas: use cells to share out tenants.`,
  );
}

async function checkServer(clickhouse: Reader): Promise<void> {
  const databases = await clickhouse.query<{ engine: string }>(
    'SELECT engine FROM system.databases WHERE name = currentDatabase()',
  );
  const engine = databases[0]?.engine;
  if (engine !== 'Atomic') {
    throw problem(
      `The database in ClickHouse has the engine ${engine}: with TOLLGATE_CLICKHOUSE_CLUSTER, create it with the engine Atomic on every replica.`,
    );
  }
  const defined = await clickhouse.query<{ macro: string }>('SELECT macro FROM system.macros');
  const missing = MACROS.filter((name) => defined.every(({ macro }) => macro !== name));
  if (missing.length === 0) return;
  throw problem(
    `The configuration of the ClickHouse server lacks the macro ${missing.join(' and the macro ')}, which replicated tables need.`,
  );
}

/** A replica that was set up anew would get the tables as the first migration creates them, which Keeper refuses. */
async function checkIsNew(clickhouse: Reader, cluster: Cluster): Promise<void> {
  const [own] = await clickhouse.query<{ database: string }>('SELECT currentDatabase() AS database');
  const found = await clickhouse.query(
    `SELECT name FROM ${systemTableOfAll('tables', cluster, own?.database ?? '')} WHERE name = 'schema_migrations'`,
  );
  if (found.length === 0) return;
  throw problem(
    'This replica of ClickHouse lacks the tables that other replicas have: create them as they are there, and start again.',
  );
}

function problem(sentence: string): ClickHouseUnavailableError {
  return new ClickHouseUnavailableError(sentence);
}
