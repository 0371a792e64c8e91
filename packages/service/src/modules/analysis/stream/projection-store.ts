import { sql } from 'kysely';
import type { Db } from '../../../platform/postgres/index.js';
import type { TimeSpan } from '../source.js';

/** The known positions; both 0 before the first. */
export interface PositionRange {
  readonly first: number;
  readonly last: number;
}

/** The position from which a client follows a project. */
export interface StreamPosition {
  readonly projectId: string;
  /** Everything up to here is known already. */
  readonly since: number;
}

/** The changes since a position. */
export interface Changes {
  /** The position up to which these changes are complete. */
  readonly last: number;
  /**
   * Per watch, in their order: when the charge items that are new in ClickHouse occurred; undefined when too much was
   * deleted.
   */
  readonly spans: readonly (readonly TimeSpan[] | undefined)[];
}

export async function positionRange(db: Db): Promise<PositionRange> {
  const { rows } = await sql<PositionRange>`
    select coalesce(min(position), 0) as first, coalesce(max(position), 0) as last from projections
  `.execute(db);
  return rows[0] ?? { first: 0, last: 0 };
}

/** Whether all changes after `since` are still kept. */
export function isRetainedSince({ first, last }: PositionRange, since: number): boolean {
  return since >= first - 1 && since <= last;
}

/** Reads all watches with one statement, and so one snapshot: no change lies between its result and `last`. */
export async function changesSince(db: Db, watches: readonly StreamPosition[]): Promise<Changes> {
  const { rows } = await sql<{ first: number; last: number; spans: string | null }>`
    select known.first, known.last, changed.spans::text as spans
    from (
      select coalesce(min(position), 0) as first, coalesce(max(position), 0) as last from projections
    ) known
    cross join unnest(${watches.map(({ projectId }) => projectId)}::text[], ${watches.map(({ since }) => since)}::bigint[])
      with ordinality as watch (project_id, since, place)
    left join lateral (
      select range_agg(projection.spans) as spans from projections projection
      where projection.position > watch.since and projection.project_id = watch.project_id
    ) changed on true
    order by watch.place
  `.execute(db);
  const last = rows[0]?.last ?? 0;
  const spans = rows.map((row, index) => {
    const isKnown = isRetainedSince(row, watches[index]?.since ?? 0);
    return isKnown ? parseMultirange(row.spans) : undefined;
  });
  return { last, spans };
}

/** `{[60,120),[300,360)}` as PostgreSQL writes it. */
function parseMultirange(text: string | null): TimeSpan[] {
  const ranges = text?.matchAll(/\[(\d+),(\d+)\)/g) ?? [];
  return Array.from(ranges, ([, from, to]) => ({ from: Number(from), to: Number(to) }));
}
