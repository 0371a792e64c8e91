import type { ResponseJSON } from '@clickhouse/client';

/**
 * By column, each name once: of an answer with many rows that takes a third less to write and to parse than row by row. And one
 * document: if anything else came before it or after it, it would not be taken for rows of this answer.
 */
export const ROWS_FORMAT = 'JSONColumnsWithMetadata';

type Columns = Readonly<Record<string, readonly unknown[]>>;

/** The rows of an answer in `ROWS_FORMAT`, which the client declares as if they were rows already. */
export function rowsOf<Row>({ data }: Pick<ResponseJSON, 'data'>): Row[] {
  const columns = Object.entries(data as unknown as Columns);
  const rows: Record<string, unknown>[] = [];
  const count = columns[0]?.[1].length ?? 0;
  for (let at = 0; at < count; at++) {
    const row: Record<string, unknown> = {};
    for (const [name, values] of columns) row[name] = values[at];
    rows.push(row);
  }
  return rows as Row[];
}
