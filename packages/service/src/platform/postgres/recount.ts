import { type RawBuilder, sql } from 'kysely';
import type { Db } from './connect.js';

export interface RecountQuery {
  /** A query with one row for each recounted thing: its name, and the columns `expected` and `found`. */
  readonly compared: RawBuilder<unknown>;
  /** A scalar query for the number of recounted things. It may use the table `compared`. */
  readonly total: RawBuilder<unknown>;
  /** The columns that differences are ordered by. */
  readonly order: RawBuilder<unknown>;
  /** Upper bound of the differences that are listed; all are counted. */
  readonly differencesMax: number;
}

export interface Recount<Row> {
  readonly total: number;
  readonly differenceCount: number;
  readonly differences: Row[];
}

/** The counts in each row. Without differences there is one row, with the counts alone. */
interface Counts {
  readonly total_count: number;
  readonly difference_count: number;
  readonly is_difference: true | null;
}

/** Compares in one statement, and so on one snapshot: exact under any traffic. Changes nothing. */
export async function recount<Row extends object>(
  db: Db,
  { compared, total, order, differencesMax }: RecountQuery,
): Promise<Recount<Row>> {
  const { rows } = await sql<Row & Counts>`
    with compared as (${compared}),
      differing as (select * from compared where expected <> found)
    select counts.*, listed.*
    from (select (${total}) as total_count, (select count(*) from differing) as difference_count) counts
    left join (
      select true as is_difference, differing.* from differing order by ${order} limit ${differencesMax}
    ) listed on true
  `.execute(db);
  const [first] = rows;
  return {
    total: first?.total_count ?? 0,
    differenceCount: first?.difference_count ?? 0,
    differences: rows.filter((row) => row.is_difference === true).map(differenceOf<Row>),
  };
}

function differenceOf<Row extends object>(row: Row & Counts): Row {
  const { total_count: _total, difference_count: _count, is_difference: _is, ...difference } = row;
  return difference as unknown as Row;
}
