import { type ClickHouse, createTableCopy } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { tableSuffix } from './tables.js';

/**
 * Creates a project's own tables with the statements that created the shared ones; a repeated call creates what is
 * missing. Nothing else is needed: ClickHouse creates a partition with the first row of a month, past or future.
 */
export function provisionStorage(
  clickhouse: Pick<ClickHouse, 'command' | 'query'>,
  projectNo: number,
): Promise<void> {
  return createTableCopy(clickhouse, tableSuffix(projectNo));
}

/** Returns the name suffixes of all projects' own tables. */
export async function dedicatedSuffixes({ db }: Pick<Postgres, 'db'>): Promise<string[]> {
  const rows = await db
    .selectFrom('projects')
    .select('no')
    .where('storage', '=', 'dedicated')
    .orderBy('no')
    .execute();
  return rows.map(({ no }) => tableSuffix(no));
}
