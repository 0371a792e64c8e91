import type { QuotaRecount } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Postgres, Tx } from '../../platform/postgres/index.js';

/**
 * What every quota should be: the events that rating has taken off the queue, and those that wait there, or cannot be read. A
 * segment holds the requests of one month.
 */
const EXPECTED = sql`
  select tenant_id, month_start, sum(event_count)::bigint as expected
  from (
    select tenant_id, month_start, event_count from event_arrivals
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
  ) counted
  group by 1, 2`;

/**
 * Recounts, in one statement and so on one snapshot, the events that were accepted. Exact beside any traffic; changes nothing.
 *
 * @param differencesMax how many differences are listed; all are counted
 */
export async function recountQuotas(
  { db }: Pick<Postgres, 'db'>,
  differencesMax: number,
): Promise<QuotaRecount> {
  const { rows } = await sql<RecountRow>`
    with compared as (
        select tenant_id, month_start, coalesce(e.expected, 0) as expected, coalesce(q.used, 0) as found
        from event_quotas q full join (${EXPECTED}) e using (tenant_id, month_start)
      ),
      differing as (select * from compared where expected <> found)
    select (select count(*) from compared) as months, (select count(*) from differing) as count, d.*
    from (select) one
    left join (
      select tenant_id, to_char(to_timestamp(month_start) at time zone 'UTC', 'YYYY-MM') as month, expected, found
      from differing order by tenant_id, month_start limit ${differencesMax}
    ) d on true
  `.execute(db);
  const [first] = rows;
  return {
    months: first?.months ?? 0,
    difference_count: first?.count ?? 0,
    differences: rows.flatMap(({ tenant_id, month, expected, found }) =>
      tenant_id === null ? [] : [{ tenant_id, month, expected: String(expected), found: String(found) }],
    ),
  };
}

/** Without differences there is one row, which has none. */
interface RecountRow {
  readonly months: number;
  readonly count: number;
  readonly tenant_id: string | null;
  readonly month: string;
  readonly expected: number;
  readonly found: number;
}

/** Sets every quota to what it should be, while nothing is accepted. Answers how many were not. */
export async function rebuildQuotas(tx: Tx): Promise<number> {
  await sql`lock table event_quotas in share row exclusive mode`.execute(tx);
  const { numAffectedRows } = await sql`
    insert into event_quotas as q (tenant_id, month_start, used)
    select tenant_id, month_start, coalesce(e.expected, 0)
    from event_quotas full join (${EXPECTED}) e using (tenant_id, month_start)
    where coalesce(used, 0) <> coalesce(e.expected, 0)
    on conflict (tenant_id, month_start) do update set used = excluded.used, event_limit = null
  `.execute(tx);
  return Number(numAffectedRows ?? 0n);
}
