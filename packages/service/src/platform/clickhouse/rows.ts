import type { ResponseJSON } from '@clickhouse/client';

/**
 * By column, each name once, which takes less to write and to parse than row by row. And one document: if
 * anything else came before it or after it, it would not be taken for rows of this answer.
 */
export const ROWS_FORMAT = 'JSONColumnsWithMetadata';

type Columns = Readonly<Record<string, readonly unknown[]>>;

/** An answer in `ROWS_FORMAT`, whose data the client declares as if they were rows already. */
export type QueryAnswer = Pick<ResponseJSON, 'data' | 'rows'> & {
  /** Where a server says why it broke off. */
  readonly exception?: unknown;
};

/** @throws Error for an answer that is not whole */
export function parseRows<Row>(text: string): Row[] {
  return rowsOf(JSON.parse(text) as QueryAnswer);
}

/** @throws Error for an answer that is not whole */
export function rowsOf<Row>({ data, rows: count, exception }: QueryAnswer): Row[] {
  if (exception !== undefined) throw new Error(`ClickHouse broke an answer off: ${exception}`);
  const columns = Object.entries(data as unknown as Columns);
  for (const [name, values] of columns) {
    if (values.length !== count) {
      throw new Error(`ClickHouse answered ${values.length} values of ${name} for ${count} rows`);
    }
  }
  const rows: Record<string, unknown>[] = [];
  for (let at = 0; at < (count ?? 0); at++) {
    const row: Record<string, unknown> = {};
    for (const [name, values] of columns) row[name] = values[at];
    rows.push(row);
  }
  return rows as Row[];
}
