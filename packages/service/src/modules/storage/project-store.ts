import { type ClickHouse, createTableCopy } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { tableSuffix } from './tables.js';

/**
 * Makes the tables of a project's own, by the statements that made the shared ones; repeated, it makes what
 * is missing. From then on there is nothing to prepare: ClickHouse makes a partition with the first row of a
 * month, past or to come.
 */
export function provisionStorage(clickhouse: Pick<ClickHouse, 'command'>, projectNo: number): Promise<void> {
  return createTableCopy(clickhouse, tableSuffix(projectNo));
}

/** Endings of the names of all tables that projects have of their own. */
export async function dedicatedSuffixes({ db }: Pick<Postgres, 'db'>): Promise<string[]> {
  const rows = await db
    .selectFrom('projects')
    .select('no')
    .where('storage', '=', 'dedicated')
    .orderBy('no')
    .execute();
  return rows.map(({ no }) => tableSuffix(no));
}
