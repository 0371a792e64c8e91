import { MigrationError } from '../migration-files.js';
import type { Cluster } from './port.js';
import { literal } from './sql.js';

/**
 * How long, and for how many inserts, a replicated table recognizes a repeated insert. While no server takes inserts,
 * no token expires, because ClickHouse measures their age from the newest. So these bounds are for one projector that
 * fails alone while others insert. Each token is a node in Keeper of some 300 bytes; each replica lists all nodes of a
 * table every 30 to 300 s.
 */
const DEDUPLICATION =
  'replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800';
/** A replicated table recognizes repeated inserts by default, unlike one on a single server. */
const NO_DEDUPLICATION = 'replicated_deduplication_window = 0';
const SINGLE_DEDUPLICATION = /\bnon_replicated_deduplication_window\s*=\s*\d+/i;
/** A replica that fetches a part counts for the quorum of the insert, so it must have synchronized it, too. */
const FSYNC_AFTER_FETCH = 'min_compressed_bytes_to_fsync_after_fetch = 1';

/** Named by database and table, so that a replica that is set up anew finds the data of the others. */
const REPLICA = `'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'`;

const ENGINE = /\bENGINE\s*=\s*(\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?(?!\s*\()/gi;
const FAMILY = /^(?:Replacing|Aggregating|Summing|Coalescing|Collapsing|VersionedCollapsing|)MergeTree$/;

type Rewriting = (statement: string, head: string, cluster: Cluster) => string;

/** The statements that can run on a cluster: their first words, up to the name of the table. */
const REWRITINGS: readonly (readonly [RegExp, Rewriting])[] = [
  [/^CREATE TABLE (?:IF NOT EXISTS )?[\w`]+(?=[\s(])/i, createTable],
  // A view without TO has a table of its own, with an engine of its own.
  [/^CREATE (?:OR REPLACE )?MATERIALIZED VIEW (?:IF NOT EXISTS )?[\w`]+(?=\s+TO\s)/i, onCluster],
  [/^CREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?[\w`]+/i, onCluster],
  // A replicated table has a log, by which its replicas delete the same rows, also those that are away now.
  [/^ALTER TABLE [\w`]+(?=\s+(?:DELETE|DROP PARTITION)\b)/i, unchanged],
  // One replica changes the columns of a replicated table for all; each changes the settings for itself.
  [
    /^ALTER TABLE [\w`]+(?=\s+(?:ADD|DROP|RENAME|COMMENT) (?:COLUMN|INDEX|CONSTRAINT|PROJECTION)\b)/i,
    onCluster,
  ],
  [/^ALTER TABLE [\w`]+(?=\s+(?:MODIFY|RESET) (?:COLUMN|ORDER BY|SETTING)\b)/i, alterTable],
  // Without SYNC, the names in Keeper would stay for minutes, and the table could not be created again.
  [
    /^DROP (?:TABLE|VIEW) (?:IF EXISTS )?[\w`]+(?=.* SYNC(?: SETTINGS max_table_size_to_drop = 0)?$)/is,
    onCluster,
  ],
  [/^(?:INSERT INTO|OPTIMIZE TABLE|TRUNCATE TABLE)\s/i, unchanged],
];

/**
 * Returns a statement for the replicas of a cluster. ClickHouse Cloud replicates definitions and engines by itself, and
 * only needs other settings.
 *
 * @param sql the same statement for a single server
 * @throws MigrationError if it is unknown how the statement would work on a cluster
 */
export function replicatedStatement(sql: string, cluster: Cluster): string {
  const statement = sql.trim();
  for (const [pattern, rewrite] of REWRITINGS) {
    const head = pattern.exec(statement)?.[0];
    if (head !== undefined) return rewrite(statement, head, cluster);
  }
  throw unknownStatement(statement);
}

function unchanged(statement: string): string {
  return statement;
}

function onCluster(statement: string, head: string, { name, isCloud }: Cluster): string {
  if (isCloud) return statement;
  return `${head} ON CLUSTER ${literal(name)}${statement.slice(head.length)}`;
}

function alterTable(statement: string, head: string, cluster: Cluster): string {
  return onCluster(statement.replace(SINGLE_DEDUPLICATION, DEDUPLICATION), head, cluster);
}

function createTable(statement: string, head: string, cluster: Cluster): string {
  const [engine, ...others] = [...statement.matchAll(ENGINE)];
  const [clause = '', family = '', parameters = ''] = engine ?? [];
  if (others.length > 0 || !FAMILY.test(family)) throw unknownStatement(statement);
  const replicated = [REPLICA, ...(parameters === '' ? [] : [parameters])].join(', ');
  const withEngine = cluster.isCloud
    ? statement
    : statement.replace(clause, () => `ENGINE = Replicated${family}(${replicated})`);
  return onCluster(withReplicatedSettings(withEngine), head, cluster);
}

function withReplicatedSettings(statement: string): string {
  const settings = [
    ...(SINGLE_DEDUPLICATION.test(statement) ? [] : [NO_DEDUPLICATION]),
    ...(/\bfsync_after_insert\s*=\s*1\b/i.test(statement) ? [FSYNC_AFTER_FETCH] : []),
  ].join(', ');
  const changed = statement.replace(SINGLE_DEDUPLICATION, DEDUPLICATION);
  if (settings === '') return changed;
  const list = /\bSETTINGS\s+(?=\w+\s*=)/i;
  return list.test(changed)
    ? changed.replace(list, (found) => `${found}${settings}, `)
    : `${changed} SETTINGS ${settings}`;
}

function unknownStatement(statement: string): MigrationError {
  return new MigrationError(
    `A statement cannot run on a cluster of ClickHouse, because nothing says how: ${statement.slice(0, 60)}…`,
  );
}
