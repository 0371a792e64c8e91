import type { ResponseJSON } from '@clickhouse/client';

/**
 * Results by column, with each name once: that costs less to write and to parse than row by row. The result is one
 * document, so extra bytes before or after it are noticed, and never taken for rows of this query.
 */
export const ROWS_FORMAT = 'JSONColumnsWithMetadata';

type Columns = Readonly<Record<string, readonly unknown[]>>;

/** A result in `ROWS_FORMAT`. The client's type declares its data as rows. */
export type QueryAnswer = Pick<ResponseJSON, 'data' | 'rows'> & {
  /** The reason, when the server broke off. */
  readonly exception?: unknown;
};

/** @throws Error for an incomplete result */
export function parseRows<Row>(text: string): Row[] {
  return rowsOf(JSON.parse(text) as QueryAnswer);
}

/** @throws Error for an incomplete result */
export function rowsOf<Row>({ data, rows: count, exception }: QueryAnswer): Row[] {
  if (exception !== undefined) throw new Error(`ClickHouse broke off a result: ${exception}`);
  const columns = Object.entries(data as unknown as Columns);
  for (const [name, values] of columns) {
    if (values.length !== count) {
      throw new Error(`ClickHouse returned ${values.length} values of ${name} for ${count} rows`);
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
