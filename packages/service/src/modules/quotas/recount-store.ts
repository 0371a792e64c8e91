import type { QuotaRecount } from '@tollgate/contract';
import { sql } from 'kysely';
import { present } from '../../kernel/present.js';
import { type Postgres, recount, type Tx } from '../../platform/postgres/index.js';

/**
 * The expected count of every quota: events that rating has taken off the queue, and events that wait there, cannot be
 * read, or were given up. All requests of a segment are of one month.
 */
const EXPECTED = sql`
  select tenant_id, month_start, sum(event_count)::bigint as expected
  from (
    select tenant_id, month_start, event_count from event_arrivals
    union all
    select tenant_id, month_start, event_count from event_arrival_counters
    union all
    select project.tenant_id,
      extract(epoch from date_trunc('month', to_timestamp(waiting.received_at_ms / 1000.0), 'UTC'))::bigint,
      part.event_count
    from (
      select received_at_ms, project_ids, project_event_counts from segments
      union all
      select received_at_ms, project_ids, project_event_counts from unreadable_segments
    ) waiting
    cross join lateral unnest(waiting.project_ids, waiting.project_event_counts) as part (project_id, event_count)
    join projects project on project.id = part.project_id
    union all
    select tenant_id, extract(epoch from date_trunc('month', to_timestamp(received_at_ms / 1000.0), 'UTC'))::bigint,
      event_count
    from usage_losses where kind = 'received'
  ) counted
  group by 1, 2`;

/** The sum of what each quota and its counters have counted. */
const COUNTED = sql`
  select tenant_id, month_start, sum(used)::bigint as used
  from (
    select tenant_id, month_start, used from event_quotas
    union all
    select tenant_id, month_start, used from event_quota_counters
  ) counts
  group by 1, 2`;

/** The accepted events of each month, next to the expected count. */
const COMPARED = sql`
  select tenant_id, to_char(to_timestamp(month_start) at time zone 'UTC', 'YYYY-MM') as month,
    coalesce(e.expected, 0) as expected, coalesce(q.used, 0) as found
  from (${COUNTED}) q full join (${EXPECTED}) e using (tenant_id, month_start)`;

interface Difference {
  readonly tenant_id: string;
  readonly month: string;
  readonly expected: number;
  readonly found: number;
}

/**
 * Recounts accepted events.
 *
 * @param differencesMax upper bound of the differences that are listed; all are counted
 */
export async function recountQuotas(
  { db }: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<QuotaRecount> {
  const { total, differenceCount, differences } = await recount<Difference>(db, {
    compared: COMPARED,
    total: sql`select count(*) from compared`,
    order: sql`tenant_id, month`,
    differencesMax,
  });
  return {
    months: total,
    difference_count: differenceCount,
    differences: differences.map(({ expected, found, ...quota }) => ({
      ...quota,
      expected: String(expected),
      found: String(found),
    })),
  };
}

/**
 * Sets every quota to its expected count, while no events are accepted. Returns how many were changed. Quotas of a
 * tenant that is moving to another cell stay as they are: they are rebuilt after the move. Counters are emptied and
 * never deleted, because processes count in rows that they have opened before.
 */
export async function rebuildQuotas(tx: Tx): Promise<number> {
  // Appends lock both tables in this order.
  await sql`lock table event_quotas, event_quota_counters in share row exclusive mode`.execute(tx);
  const { numAffectedRows } = await sql`
    with differing as (
      select tenant_id, month_start, coalesce(e.expected, 0) as expected
      from (${COUNTED}) q full join (${EXPECTED}) e using (tenant_id, month_start)
      where coalesce(q.used, 0) <> coalesce(e.expected, 0) and not is_moving(tenant_id)
    ), emptied as (
      update event_quota_counters set used = 0, prepaid = 0
      where (tenant_id, month_start) in (select tenant_id, month_start from differing)
    )
    insert into event_quotas (tenant_id, month_start, used) select * from differing
    on conflict (tenant_id, month_start) do update set used = excluded.used, event_limit = null
  `.execute(tx);
  return Number(present(numAffectedRows, 'the number of changed quotas'));
}
