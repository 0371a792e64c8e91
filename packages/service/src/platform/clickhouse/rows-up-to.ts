import { unlessTooLarge } from './errors.js';
import type { ClickHouseReader, QueryOptions, QueryParams } from './port.js';
import { resultBytesMax } from './sql.js';

/**
 * Returns the rows of a SELECT without the clauses SETTINGS and FORMAT, unless they have more than about `bytesMax`
 * bytes in memory: then undefined, before any row is sent.
 */
export function rowsUpTo<Row>(
  clickhouse: Pick<ClickHouseReader, 'query'>,
  bytesMax: number,
  sql: string,
  params?: QueryParams,
  options?: QueryOptions,
): Promise<Row[] | undefined> {
  return unlessTooLarge(clickhouse.query<Row>(`${sql} ${resultBytesMax(bytesMax)}`, params, options));
}
