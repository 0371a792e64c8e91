import { DAY_S } from '@tollgate/timezone';
import { sql } from 'kysely';
import {
  claimSweep,
  type Db,
  isNotMoving,
  type SweepClaim,
  type TenantDb,
  type TenantTx,
} from '../../platform/postgres/index.js';
import type { StorageScope } from './tables.js';

/** The first day that a project's history is kept. */
export interface Boundary extends StorageScope {
  /** Days since 1970, UTC. */
  readonly retainedFromDay: number;
}

/** Returns the first day that the project's history is shown; 0 when all of it is. */
export async function shownFromDayOf(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ day: number }>`
    select shown_from_day as day from usage_retention where project_id = ${projectId}
  `.execute(db);
  return rows[0]?.day ?? 0;
}

/** Returns the first day that is kept, by project; projects without expired history are absent. */
export async function retainedFromDays(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ project_id: string; day: number }>`
    select project_id, retained_from_day as day from usage_retention
  `.execute(db);
  return new Map(rows.map(({ project_id, day }) => [project_id, day]));
}

/** Returns the projects that have usage of days that are no longer kept. */
export async function projectsWithExpiredUsage(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ project_id: string }>`
    select project_id from usage_retention kept
    where exists (
      select from usage_totals total where total.project_id = kept.project_id and total.day < kept.retained_from_day
    )
  `.execute(db);
  return new Set(rows.map(({ project_id }) => project_id));
}

/** Whether a tenant has usage that is kept and not shown. */
export async function hasHiddenUsage(db: TenantDb): Promise<boolean> {
  const row = await db.row<{ found: boolean }>`
    select exists (
      select from usage_retention kept
      join usage_event_totals total on total.project_id = kept.project_id
        and total.day >= kept.retained_from_day and total.day < kept.shown_from_day
      where ${db.isOwn('kept')}
    ) as found`;
  return row?.found ?? false;
}

/**
 * Returns boundaries that were recorded at `recordedByMs` or before. History of a tenant that is moving is not deleted,
 * so that both copies can be compared.
 */
export async function settledBoundaries(db: Db, recordedByMs: number): Promise<Boundary[]> {
  const { rows } = await sql<Boundary>`
    select r.tenant_id as "tenantId", r.project_id as "projectId", p.no as "projectNo", p.storage,
      r.retained_from_day as "retainedFromDay"
    from usage_retention r join projects p on p.id = r.project_id
    where r.recorded_at_ms <= ${recordedByMs}
      and not exists (select from tenant_moves move where move.tenant_id = r.tenant_id)
    order by p.no
  `.execute(db);
  return rows;
}

/** Returns ids of tenants after a given one, in ascending order. */
export async function tenantsAfter(db: Db, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from tenants where id > ${after} and ${isNotMoving('id')} order by id limit ${limit}
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** From which days on the history of a tenant's projects is shown and kept; days since 1970, UTC. */
export interface TenantBoundary {
  readonly shownFromDay: number;
  /** At most `shownFromDay`. */
  readonly keptFromDay: number;
}

/** Locks the boundaries of a tenant until `tx` ends. */
export async function lockBoundaries(tx: TenantTx): Promise<void> {
  await tx.lock('retention');
}

/**
 * Records the boundaries of the tenant's projects. History that was marked for deletion is never kept or shown again.
 */
export async function recordBoundary(
  tx: TenantTx,
  { shownFromDay, keptFromDay }: TenantBoundary,
  nowMs: number,
): Promise<void> {
  await tx.change`
    insert into usage_retention as known (tenant_id, project_id, retained_from_day, shown_from_day, recorded_at_ms)
    select tenant_id, id, ${keptFromDay}::integer, ${Math.max(shownFromDay, keptFromDay)}::integer, ${nowMs}
    from projects project
    where ${tx.isOwn('project')}
      and (${shownFromDay}::integer > 0 or exists (select from usage_retention r where r.project_id = project.id))
    order by project.id
    on conflict (project_id) do update
      set retained_from_day = greatest(known.retained_from_day, excluded.retained_from_day),
        shown_from_day = greatest(known.retained_from_day, excluded.shown_from_day),
        recorded_at_ms = case when excluded.retained_from_day > known.retained_from_day
          then excluded.recorded_at_ms else known.recorded_at_ms end
      where excluded.retained_from_day > known.retained_from_day
        or known.shown_from_day <> greatest(known.retained_from_day, excluded.shown_from_day)`;
}

/** Claims the sweep if it is due. */
export function claimRetention(db: Db, claim: SweepClaim): Promise<boolean> {
  return claimSweep(db, 'retention_sweep', claim);
}

/**
 * Deletes up to `limit` failed events that are no longer kept; returns their number. Events that are being reprocessed
 * are left out.
 */
export async function deleteFailedEvents(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from failed_events where ctid = any(array(
      select failed.ctid from usage_retention kept
      join failed_events failed on failed.project_id = kept.project_id
        and failed.occurred_at < kept.retained_from_day::bigint * ${DAY_S}::bigint
      where ${isNotMoving('failed.tenant_id')}
      limit ${limit} for update of failed skip locked))
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

export async function finishSweep(db: Db, sweptAtMs: number, dueAtMs: number): Promise<void> {
  await sql`update retention_sweep set swept_at_ms = ${sweptAtMs}, due_at_ms = ${dueAtMs}`.execute(db);
}

/** Returns when a sweep was last finished; null when none was. */
export async function lastSweptAtMs(db: Db): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`select swept_at_ms as at from retention_sweep`.execute(
    db,
  );
  return rows[0]?.at ?? null;
}
