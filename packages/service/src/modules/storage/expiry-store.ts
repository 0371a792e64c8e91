import { type ClickHouse, identifier, literal } from '../../platform/clickhouse/index.js';

/** Where history is deleted. */
export type HistoryStore = Pick<ClickHouse, 'query' | 'command'>;

/** A month of a table. */
export interface Partition {
  readonly table: string;
  /** YYYYMM. */
  readonly month: number;
}

interface ProjectKey {
  readonly tenantId: string;
  readonly projectId: string;
}

/** Projects that one statement names: a bound on its length. */
const PROJECTS_PER_STATEMENT = 1_000;

/** The partitions of the tables that are older than a month, oldest first. */
export function partitionsBefore(
  clickhouse: HistoryStore,
  tables: readonly string[],
  month: number,
): Promise<Partition[]> {
  return clickhouse.query<Partition>(
    `SELECT table, toUInt32(partition_id) AS month FROM system.parts
     WHERE database = currentDatabase() AND active AND table IN {tables:Array(String)}
       AND toUInt32OrZero(partition_id) < {month:UInt32}
     GROUP BY table, month ORDER BY month, table`,
    { tables, month },
  );
}

/** Deletes a whole month, files and all. */
export async function dropPartition(clickhouse: HistoryStore, { table, month }: Partition): Promise<void> {
  await clickhouse.command(`ALTER TABLE ${identifier(table)} DROP PARTITION ID ${literal(String(month))}`);
}

/** Whose rows a month holds. */
export function projectsIn(clickhouse: HistoryStore, { table, month }: Partition): Promise<ProjectKey[]> {
  return clickhouse.query<ProjectKey>(
    `SELECT DISTINCT tenant_id AS tenantId, project_id AS projectId FROM ${identifier(table)}
     WHERE _partition_id = {partition:String} ORDER BY tenantId, projectId`,
    { partition: String(month) },
  );
}

/**
 * Begins to delete all rows that projects have in a month. ClickHouse writes the parts that hold some anew,
 * in the background and across restarts; parts without them stay as they are, and rows that come later do
 * too. Embedded, it would have the statement wait for all that, unless told not to.
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

/** Tables in which deletions are still under way, with what the last attempt of one failed on, if it did. */
export async function tablesInDeletion(
  clickhouse: HistoryStore,
  tables: readonly string[],
): Promise<{ readonly table: string; readonly problem: string }[]> {
  return clickhouse.query(
    `SELECT table, max(latest_fail_reason) AS problem FROM system.mutations
     WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND NOT is_done GROUP BY table`,
    { tables },
  );
}
