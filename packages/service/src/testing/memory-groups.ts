import type { ClickHouse } from '../platform/clickhouse/index.js';

/**
 * Returns a record of groups without a ClickHouse, for projectors whose rows go nowhere. All projectors of a database
 * need the same one.
 */
export function memoryGroups(): Pick<ClickHouse, 'query' | 'command'> {
  let recorded: number | undefined;
  return {
    async query<Row>(): Promise<Row[]> {
      return [{ own: recorded ?? 0, ownCount: recorded === undefined ? '0' : '1', allCount: '0' } as Row];
    },
    async command(_sql, { group } = {}) {
      recorded = Math.max(recorded ?? 0, Number(group));
    },
  };
}
