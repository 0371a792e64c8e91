import { type ClickHouse, parseRows, type QueryParams } from '../platform/clickhouse/index.js';

/** A query that a thread asks the main thread to run, because only that has ClickHouse. */
export interface ClickHouseCall {
  readonly input: {
    readonly sql: string;
    readonly params: QueryParams | undefined;
    /** Tables that are read up to date; see `ClickHouse.upToDate`. */
    readonly upToDate?: readonly string[];
  };
  /** The result of `ClickHouse.queryText`. */
  readonly result: string;
}

type Call = (name: 'query', input: ClickHouseCall['input']) => Promise<string>;

/**
 * Returns ClickHouse as a thread sees it.
 *
 * @param upToDate tables of which no row that was inserted may be missed
 */
export function clickHouseBehind(call: Call, upToDate?: readonly string[]): Pick<ClickHouse, 'query'> {
  const tables = upToDate === undefined ? {} : { upToDate };
  return {
    query: async <Row>(sql: string, params?: QueryParams) =>
      parseRows<Row>(await call('query', { sql, params, ...tables })),
  };
}

/** Runs the query of a thread. */
export async function runCall(
  clickhouse: Pick<ClickHouse, 'queryText' | 'upToDate'>,
  { sql, params, upToDate }: ClickHouseCall['input'],
): Promise<string> {
  const reader = upToDate === undefined ? clickhouse : await clickhouse.upToDate(upToDate);
  return reader.queryText(sql, params);
}
