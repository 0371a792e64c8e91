import type { ClickHouseSettings } from '@clickhouse/client';
import { type ClickHouseLimits, type Cluster, INSERT_ROWS_MAX, type SystemTable } from './port.js';

/** Beyond this share of its memory a query groups and sorts on disk, which is slower but does not fail. */
const SPILL_SHARE = 1 / 3;

/** Settings of every query. */
export function querySettings(limits: ClickHouseLimits): ClickHouseSettings {
  const spillBytes = String(Math.floor(limits.queryMemoryBytesMax * SPILL_SHARE));
  return {
    session_timezone: 'UTC',
    max_memory_usage: String(limits.queryMemoryBytesMax),
    max_bytes_before_external_group_by: spillBytes,
    max_bytes_before_external_sort: spillBytes,
    max_threads: limits.queryThreadsMax,
    max_execution_time: limits.executionSecondsMax,
    // A JSON number would lose digits in JavaScript.
    output_format_json_quote_decimals: 1,
    output_format_json_quote_64bit_integers: 1,
  };
}

/** Returns settings that make an insert atomic, and a repeated one harmless. */
export function insertSettings(token: string): ClickHouseSettings {
  if (!/^[\w.:-]{1,128}$/.test(token)) throw new RangeError(`${token} cannot be an insert token.`);
  return {
    async_insert: 0,
    insert_deduplicate: 1,
    insert_deduplication_token: token,
    // The rollup skips blocks that it has, and takes those that a killed insert did not bring it.
    deduplicate_blocks_in_dependent_materialized_views: 1,
    // One batch may contain events of many months.
    max_partitions_per_insert_block: '0',
    // Joins several blocks to one.
    min_insert_block_size_rows: String(INSERT_ROWS_MAX),
    min_insert_block_size_bytes: '0',
    max_insert_threads: '1',
    // Rows of one key are summed in a merge anyway: looking for them row by row would take a third of the time of an
    // insert.
    optimize_on_insert: 0,
  };
}

/** Returns the clause of a SELECT that ends it with an error if its result has more bytes. */
export function resultBytesMax(bytes: number): string {
  return `SETTINGS ${assignments({ max_result_bytes: String(bytes), result_overflow_mode: 'throw' })}`;
}

/** Less than the time after which a client gives up an insert, so that the server says what happened. */
const QUORUM_MS_MAX = 60_000;

/**
 * Returns settings by which an insert is acknowledged once most replicas have it, and so are the sums in materialized
 * views. Inserts of several projectors go on at the same time. A number of replicas instead of `auto`, because `auto`
 * waits in vain where there is one replica. In ClickHouse Cloud every insert is on shared storage, without a quorum.
 */
export function quorumSettings(cluster: Cluster | undefined): ClickHouseSettings {
  if (cluster === undefined || cluster.isCloud) return {};
  return {
    insert_quorum: String(Math.floor(cluster.replicas / 2) + 1),
    insert_quorum_parallel: 1,
    insert_quorum_timeout: QUORUM_MS_MAX,
  };
}

/** Returns `INSERT INTO t (a, b)`, with every name checked. */
export function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${identifier(table)} (${columnList(columns)})`;
}

/** Returns the names of columns as a list of a statement, with every name checked. */
export function columnList(columns: readonly string[]): string {
  return columns.map(identifier).join(', ');
}

/** Returns a checked name; the dot of `item.metric` is part of the column's name. */
export function identifier(name: string): string {
  if (!/^[A-Za-z_][\w.]*$/.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a name.`);
  return `\`${name}\``;
}

/** Returns text for FROM: the rows of a system table about the database of the connection. */
export function ownSystemTable(name: SystemTable): string {
  return `(SELECT * FROM system.${name} WHERE database = currentDatabase())`;
}

/** Returns text for FROM: the same of all replicas. */
export function systemTableOfAll(name: SystemTable | 'tables', cluster: Cluster, database: string): string {
  return rowsOfAll(name, cluster, `database = ${literal(database)}`);
}

/** Returns text for FROM: the statements that run now in a database, on all replicas that can be reached. */
export function runningStatements(cluster: Cluster | undefined, database: string): string {
  const condition = `current_database = ${literal(database)}`;
  return cluster === undefined
    ? `(SELECT * FROM system.processes WHERE ${condition})`
    : rowsOfAll('processes', cluster, condition);
}

/**
 * Returns text for FROM: rows of a system table of all replicas. Lost replicas are left out, because they must not stop
 * the others, and have nothing that only they have.
 */
function rowsOfAll(table: string, cluster: Cluster, condition: string): string {
  return `(SELECT * FROM clusterAllReplicas(${literal(cluster.name)}, system.${table})
    WHERE ${condition} SETTINGS skip_unavailable_shards = 1)`;
}

/** Returns a quoted string. */
export function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** Returns `a = '1', b = 'x'`: after SETTINGS for one statement, after SET for all later ones of the session. */
export function assignments(settings: ClickHouseSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${literal(String(value))}`)
    .join(', ');
}
