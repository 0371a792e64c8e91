import { type RawBuilder, sql } from 'kysely';
import { present } from '../../kernel/present.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { isNotMoving, type Postgres } from '../../platform/postgres/index.js';
import type { OpenCorrection, StoredCorrection } from './correction.js';
import { CORRECTION_COLUMNS, IN_PROGRESS } from './correction-store.js';

/**
 * Takes the correction whose turn it is, for a time. Tenants take turns, then the corrections of a tenant.
 *
 * @returns undefined when there is none
 */
export async function takeTurn(
  { db }: Pick<Postgres, 'db'>,
  nowMs: number,
  busyMs: number,
): Promise<OpenCorrection | undefined> {
  const { rows } = await sql<StoredCorrection & ProjectRef>`
    with next as (
      select c.project_id, c.id from usage_corrections c
      where c.status in ${IN_PROGRESS} and c.busy_until_ms <= ${nowMs} and ${isNotMoving('c.tenant_id')}
      order by (
        select max(o.busy_until_ms) from usage_corrections o where o.tenant_id = c.tenant_id and o.status in ${IN_PROGRESS}
      ), c.busy_until_ms, c.id
      limit 1 for update of c skip locked
    )
    update usage_corrections c set busy_until_ms = ${nowMs + busyMs}
    from next, projects p
    where c.project_id = next.project_id and c.id = next.id and p.id = c.project_id
    returning ${CORRECTION_COLUMNS}, c.tenant_id as "tenantId", c.project_id as "projectId", p.no as "projectNo", p.kind, p.storage
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { tenantId, projectId, projectNo, kind, storage, ...correction } = row;
  return { ...correction, project: { tenantId, projectId, projectNo, kind, storage } };
}

/**
 * Ends the turns of all tenants that do not move. Call it only when the processes that took them have ended, so that
 * their unfinished steps are rolled back.
 */
export async function endTurns({ db }: Pick<Postgres, 'db'>, nowMs: number): Promise<void> {
  await sql`
    update usage_corrections set busy_until_ms = ${nowMs}
    where status in ${IN_PROGRESS} and busy_until_ms > ${nowMs} and ${isNotMoving('tenant_id')}
  `.execute(db);
}

/** A subquery: when the next step is due, in milliseconds since the Unix epoch. */
export const nextStepMs: RawBuilder<number | null> = sql`
  select min(busy_until_ms) from usage_corrections where status in ${IN_PROGRESS} and ${isNotMoving('tenant_id')}`;

/** Returns the number of corrections in progress, and the earliest time since which one of them has made no step. */
export async function measureProgress({
  db,
}: Pick<Postgres, 'db'>): Promise<{ readonly count: number; readonly oldestStepMs: number | null }> {
  const { rows } = await sql<{ count: number; oldestStepMs: number | null }>`
    select count(*) as count, min(coalesce(progressed_at_ms, created_at_ms)) as "oldestStepMs"
    from usage_corrections where status in ${IN_PROGRESS} and ${isNotMoving('tenant_id')}`.execute(db);
  return rows[0] ?? { count: 0, oldestStepMs: null };
}

/** Returns whether a step is due. */
export async function isStepDue({ db }: Pick<Postgres, 'db'>, nowMs: number): Promise<boolean> {
  const { rows } = await sql<{
    isDue: boolean | null;
  }>`select (${nextStepMs}) <= ${nowMs} as "isDue"`.execute(db);
  return rows[0]?.isDue === true;
}

/**
 * Deletes what is kept of events whose history was deleted: at most `max` rows of each table. Returns the number of
 * rows of the table of which most were deleted; if it is `max`, more may be left.
 *
 * @param keptFrom the first id (32 hex digits) that each project keeps
 */
export async function forgetExpired(
  { db }: Pick<Postgres, 'db'>,
  keptFrom: readonly { readonly projectId: string; readonly firstId: string }[],
  max: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with kept as (
      select * from unnest(
        ${keptFrom.map(({ projectId }) => projectId)}::text[], ${keptFrom.map(({ firstId }) => firstId)}::uuid[]
      ) as k (project_id, first_id)
    ), counts as (
      delete from usage_correction_counts where (project_id, correction_id, key, period_start, side, raw_event_id, item) in (
        select e.project_id, e.correction_id, e.key, e.period_start, e.side, e.raw_event_id, e.item from kept
        join usage_correction_counts e on e.project_id = kept.project_id and e.raw_event_id < kept.first_id
        where ${isNotMoving('e.tenant_id')} limit ${max}
      ) returning 1
    ), parts as (
      delete from usage_correction_parts where (project_id, correction_id, no) in (
        select p.project_id, p.correction_id, p.no from kept
        join usage_correction_parts p on p.project_id = kept.project_id
          and p.raw_event_ids[cardinality(p.raw_event_ids)] < kept.first_id
        where ${isNotMoving('p.tenant_id')} limit ${max}
      ) returning 1
    ), counters as (
      delete from usage_correction_counters where (project_id, correction_id, key, period_start) in (
        select u.project_id, u.correction_id, u.key, u.period_start from kept
        join usage_corrections c on c.project_id = kept.project_id and c.status in ('applied', 'reverted', 'stale')
          and not exists (
            select from usage_correction_parts p where p.project_id = c.project_id and p.correction_id = c.id
              and p.raw_event_ids[cardinality(p.raw_event_ids)] >= kept.first_id)
        join usage_correction_counters u on u.project_id = c.project_id and u.correction_id = c.id
        where ${isNotMoving('u.tenant_id')} limit ${max}
      ) returning 1
    ), revisions as (
      delete from usage_event_revisions where (project_id, raw_event_id) in (
        select r.project_id, r.raw_event_id from kept
        join usage_event_revisions r on r.project_id = kept.project_id and r.raw_event_id < kept.first_id
        where ${isNotMoving('r.tenant_id')} limit ${max}
      ) returning 1
    )
    select greatest((select count(*) from counts), (select count(*) from counters), (select count(*) from parts),
      (select count(*) from revisions)) as count
  `.execute(db);
  return present(rows[0], 'the number of forgotten rows').count;
}

/** Ends plans that were not applied for too long, and deletes all that they have planned. */
export async function expirePlans(
  { db }: Pick<Postgres, 'db'>,
  plannedBeforeMs: number,
  max: number,
): Promise<void> {
  await sql`
    with expired as (
      update usage_corrections set status = 'expired' where (project_id, id) in (
        select project_id, id from usage_corrections
        where status = 'planned' and planned_at_ms < ${plannedBeforeMs} and ${isNotMoving('tenant_id')}
        order by planned_at_ms limit ${max} for update skip locked
      ) returning project_id, id
    ), counts as (
      delete from usage_correction_counts e using expired
      where e.project_id = expired.project_id and e.correction_id = expired.id
    ), counters as (
      delete from usage_correction_counters c using expired
      where c.project_id = expired.project_id and c.correction_id = expired.id
    )
    delete from usage_correction_parts part using expired
    where part.project_id = expired.project_id and part.correction_id = expired.id
  `.execute(db);
}
