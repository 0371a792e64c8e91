import { DAY_S } from '@tollgate/timezone';
import { sql } from 'kysely';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type Db, isNotMoving } from '../../platform/postgres/index.js';
import { everyHistory, everyTable, projectsWithOwnTables } from '../storage/index.js';
import { SIGN } from './event-store.js';

/** The totals of a project's day whose unpriced events were never counted. */
export interface UncountedDay {
  readonly tenantId: string;
  readonly projectId: string;
  /** Events by status when the day was read: a batch that adds to the day changes one of them. */
  readonly processed: number;
  readonly failed: number;
}

/** Returns the latest day before `before` that has such totals and is kept; days since 1970, UTC. */
export async function lastUncountedDay(db: Db, before: number): Promise<number | undefined> {
  const { rows } = await sql<{ day: number | null }>`
    select max(total.day) as day from usage_event_totals total
      left join usage_retention kept on kept.project_id = total.project_id
    where total.unpriced_count is null and total.day < ${before} and total.day >= coalesce(kept.retained_from_day, 0)
      and ${isNotMoving('total.tenant_id')}
  `.execute(db);
  return rows[0]?.day ?? undefined;
}

/**
 * Returns the projects whose unpriced events of a day can be counted in ClickHouse: those that keep the day and have no
 * batch that still has to be copied there. One statement, and so one moment.
 */
export async function uncountedDays(db: Db, day: number): Promise<UncountedDay[]> {
  const { rows } = await sql<UncountedDay>`
    select total.tenant_id as "tenantId", total.project_id as "projectId",
      total.processed_count as processed, total.failed_count as failed
    from usage_event_totals total
      left join usage_retention kept on kept.project_id = total.project_id
    where total.day = ${day} and total.unpriced_count is null and total.day >= coalesce(kept.retained_from_day, 0)
      and ${isNotMoving('total.tenant_id')}
      and not exists (select from usage_batches waiting where waiting.project_ids @> array[total.project_id])
  `.execute(db);
  return rows;
}

/**
 * Counts the events of a day that have a charge item without a price, by project; a project without any may be
 * absent. Exact without FINAL: of the attempts of a revision only the last has charge items, and a reversal row counts
 * less by what its revision counts more.
 */
export async function countUnpricedOfDay(
  db: Db,
  clickhouse: Pick<ClickHouse, 'upToDate'>,
  day: number,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const own = await projectsWithOwnTables(db);
  const { events, params } = everyHistory(own);
  const history = await clickhouse.upToDate(everyTable(own));
  const rows = await history.query<{ projectId: string; unpriced: string }>(
    `SELECT tenant_id AS tenantId, project_id AS projectId, sum(${SIGN}) AS unpriced FROM ${events.from}
     WHERE ${events.inPlace} AND toUnixTimestamp(occurred_at) >= {from:UInt32} AND toUnixTimestamp(occurred_at) < {to:UInt64}
       AND has(item.pricing_source, 'unpriced')
     GROUP BY tenantId, projectId SETTINGS max_threads = 1`,
    { ...params, from: day * DAY_S, to: (day + 1) * DAY_S },
    signal === undefined ? {} : { signal },
  );
  return new Map(rows.map(({ projectId, unpriced }) => [projectId, Number(unpriced)]));
}

/** Records the count of a day, unless the day has changed since it was read; returns whether it was recorded. */
export async function recordUnpriced(
  db: Db,
  day: number,
  { tenantId, projectId, processed, failed }: UncountedDay,
  unpriced: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update usage_event_totals set unpriced_count = ${unpriced}
    where tenant_id = ${tenantId} and project_id = ${projectId} and day = ${day} and unpriced_count is null
      and processed_count = ${processed} and failed_count = ${failed}
  `.execute(db);
  return numAffectedRows === 1n;
}
