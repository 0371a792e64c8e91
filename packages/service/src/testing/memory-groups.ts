import type { ClickHouse, ClickHouseReader } from '../platform/clickhouse/index.js';

/**
 * Returns a record of groups without a ClickHouse, for projectors whose rows go nowhere. All projectors of a database
 * need the same one.
 */
export function memoryGroups(): Pick<ClickHouse, 'upToDate' | 'command'> {
  let recorded: number | undefined;
  return {
    async upToDate(): Promise<ClickHouseReader> {
      const query = async <Row>(): Promise<Row[]> => {
        return [{ own: recorded ?? 0, ownCount: recorded === undefined ? '0' : '1', allCount: '0' } as Row];
      };
      const none = () => Promise.reject(new Error('there are no other rows'));
      return { query, queryText: none, exportRows: none, exportRowsUpTo: none };
    },
    async command(_sql, { group } = {}) {
      recorded = Math.max(recorded ?? 0, Number(group));
    },
  };
}
