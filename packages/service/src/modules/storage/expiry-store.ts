import { type ClickHouse, identifier, literal } from '../../platform/clickhouse/index.js';
import type { StorageTables } from './tables.js';

/** The database from which history is deleted. */
export type HistoryStore = Pick<ClickHouse, 'query' | 'command' | 'systemTable'>;

/** One month of a table. */
export interface Partition {
  readonly table: string;
  /** YYYYMM. */
  readonly month: number;
}

interface ProjectKey {
  readonly tenantId: string;
  readonly projectId: string;
}

/** Upper bound of the projects that one statement names, which bounds its length. */
const PROJECTS_PER_STATEMENT = 1_000;

/** Returns the partitions of the tables that are older than a month, oldest first. */
export function partitionsBefore(
  clickhouse: HistoryStore,
  tables: readonly string[],
  month: number,
): Promise<Partition[]> {
  return clickhouse.query<Partition>(
    `SELECT table, toUInt32(partition_id) AS month FROM ${clickhouse.systemTable('parts')}
     WHERE active AND table IN {tables:Array(String)}
       AND toUInt32OrZero(partition_id) < {month:UInt32}
     GROUP BY table, month ORDER BY month, table`,
    { tables, month },
  );
}

/** Deletes a whole month with its files. */
export async function dropPartition(clickhouse: HistoryStore, { table, month }: Partition): Promise<void> {
  await clickhouse.command(`ALTER TABLE ${identifier(table)} DROP PARTITION ID ${literal(String(month))}
     SETTINGS max_partition_size_to_drop = 0`);
}

/** Deletes a month from the tables of one storage. */
export async function dropMonth(
  clickhouse: HistoryStore,
  { events, rollup }: StorageTables,
  month: number,
): Promise<void> {
  for (const table of [events, rollup]) await dropPartition(clickhouse, { table, month });
}

/** Returns the projects that have rows in a month. */
export function projectsIn(clickhouse: HistoryStore, { table, month }: Partition): Promise<ProjectKey[]> {
  return clickhouse.query<ProjectKey>(
    `SELECT DISTINCT tenant_id AS tenantId, project_id AS projectId FROM ${identifier(table)}
     WHERE _partition_id = {partition:String} ORDER BY tenantId, projectId`,
    { partition: String(month) },
  );
}

/**
 * Starts the deletion of all rows that projects have in a month. ClickHouse rewrites the parts that contain such rows,
 * in the background and across restarts. Other parts, and rows that are inserted later, stay. The setting is needed
 * because the embedded ClickHouse would wait until all of that is done.
 */
export async function deleteProjects(
  clickhouse: HistoryStore,
  { table, month }: Partition,
  projects: readonly ProjectKey[],
): Promise<void> {
  for (let at = 0; at < projects.length; at += PROJECTS_PER_STATEMENT) {
    const keys = projects
      .slice(at, at + PROJECTS_PER_STATEMENT)
      .map(({ tenantId, projectId }) => `(${literal(tenantId)}, ${literal(projectId)})`);
    await clickhouse.command(
      `ALTER TABLE ${identifier(table)} DELETE IN PARTITION ID ${literal(String(month))}
       WHERE (tenant_id, project_id) IN (${keys.join(', ')}) SETTINGS mutations_sync = 0`,
    );
  }
}

/**
 * Returns the tables in which deletions are under way on any replica, with the error of the last attempt, if it failed.
 */
export async function tablesInDeletion(
  clickhouse: HistoryStore,
  tables: readonly string[],
): Promise<{ readonly table: string; readonly problem: string }[]> {
  return clickhouse.query(
    `SELECT table, max(latest_fail_reason) AS problem FROM ${clickhouse.systemTable('mutations')}
     WHERE table IN {tables:Array(String)} AND NOT is_done GROUP BY table`,
    { tables },
  );
}
