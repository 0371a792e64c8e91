import type { IngestDifference, IngestRecount } from '@tollgate/contract';
import { sql } from 'kysely';
import { type Postgres, recount } from '../../platform/postgres/index.js';

/** Each count of a project's ingest status, next to the sum over its days. */
const COMPARED = sql`
  select tenant_id, project_id, c.measure, coalesce(c.expected, 0) as expected, coalesce(c.found, 0) as found
  from ingest_totals i
  full join (
    select tenant_id, project_id, sum(processed_count)::bigint as processed, sum(failed_count)::bigint as failed,
      sum(voided_count)::bigint as voided
    from usage_event_totals group by 1, 2
  ) d using (tenant_id, project_id)
  cross join lateral (values
    ('processed_count', d.processed, i.processed_count),
    ('failed_count', d.failed, i.failed_count),
    ('voided_count', d.voided, i.voided_count)
  ) as c (measure, expected, found)`;

type Difference = Omit<IngestDifference, 'expected' | 'found'> & {
  readonly expected: number;
  readonly found: number;
};

/**
 * Recounts the events of the ingest status. Repeated events have no other count to compare with.
 *
 * @param differencesMax upper bound of the differences that are listed; all are counted
 */
export async function recountIngest(
  { db }: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<IngestRecount> {
  const { total, differenceCount, differences } = await recount<Difference>(db, {
    compared: COMPARED,
    total: sql`select count(distinct project_id) from compared`,
    order: sql`project_id, measure`,
    differencesMax,
  });
  return {
    projects: total,
    difference_count: differenceCount,
    differences: differences.map((difference) => ({
      ...difference,
      expected: String(difference.expected),
      found: String(difference.found),
    })),
  };
}
