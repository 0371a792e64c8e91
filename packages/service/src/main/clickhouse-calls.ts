import { type ClickHouse, parseRows, type QueryParams } from '../platform/clickhouse/index.js';

/** A query that a thread asks the main thread to run, because only that has ClickHouse. */
export interface ClickHouseCall {
  readonly input: { readonly sql: string; readonly params: QueryParams | undefined };
  /** The result of `ClickHouse.queryText`. */
  readonly result: string;
}

/** Returns ClickHouse as a thread sees it. */
export function clickHouseBehind(
  call: (name: 'query', input: ClickHouseCall['input']) => Promise<string>,
): Pick<ClickHouse, 'query'> {
  return {
    query: async <Row>(sql: string, params?: Parameters<ClickHouse['query']>[1]) =>
      parseRows<Row>(await call('query', { sql, params })),
  };
}
