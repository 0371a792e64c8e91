import { sql } from 'kysely';
import { DAY_S } from '../../kernel/timezone.js';
import { type Db, lockUntilCommit, type Tx } from '../../platform/postgres/index.js';
import type { StorageScope } from './tables.js';

/** From where on a project's history is kept. */
export interface Boundary extends StorageScope {
  /** Days since 1970, UTC. */
  readonly retainedFromDay: number;
}

/** The first day of which the project's history is shown: 0 when that is all of it. */
export async function shownFromDayOf(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ day: number }>`
    select shown_from_day as day from usage_retention where project_id = ${projectId}
  `.execute(db);
  return rows[0]?.day ?? 0;
}

/** The first day that is kept, by project; projects of which everything is kept are absent. */
export async function retainedFromDays(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ project_id: string; day: number }>`
    select project_id, retained_from_day as day from usage_retention
  `.execute(db);
  return new Map(rows.map(({ project_id, day }) => [project_id, day]));
}

/** Projects that have usage of days that are no longer kept. */
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
export async function hasHiddenUsage(db: Db, tenantId: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from usage_retention kept
      join usage_event_totals total on total.project_id = kept.project_id
        and total.day >= kept.retained_from_day and total.day < kept.shown_from_day
      where kept.tenant_id = ${tenantId}
    ) as found
  `.execute(db);
  return rows[0]?.found ?? false;
}

/** Boundaries that were recorded at `recordedByMs` or before. */
export async function settledBoundaries(db: Db, recordedByMs: number): Promise<Boundary[]> {
  const { rows } = await sql<Boundary>`
    select r.tenant_id as "tenantId", r.project_id as "projectId", p.no as "projectNo", p.storage,
      r.retained_from_day as "retainedFromDay"
    from usage_retention r join projects p on p.id = r.project_id
    where r.recorded_at_ms <= ${recordedByMs} order by p.no
  `.execute(db);
  return rows;
}

/** Ids of tenants after the one named, in their order. */
export async function tenantsAfter(db: Db, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from tenants where id > ${after} order by id limit ${limit}
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** From which days on the history of a tenant's projects is shown and kept; days since 1970, UTC. */
export interface TenantBoundary {
  readonly tenantId: string;
  readonly shownFromDay: number;
  /** At most `shownFromDay`. */
  readonly keptFromDay: number;
}

/** Those who record the boundaries of a tenant wait for each other until `tx` ends. */
export async function lockBoundaries(tx: Tx, tenantId: string): Promise<void> {
  await lockUntilCommit(tx, `tollgate/retention/${tenantId}`);
}

/** Records the boundaries of the tenant's projects. What was given up for deletion is never kept or shown again. */
export async function recordBoundary(
  tx: Tx,
  { tenantId, shownFromDay, keptFromDay }: TenantBoundary,
  nowMs: number,
): Promise<void> {
  await sql`
    insert into usage_retention as known (tenant_id, project_id, retained_from_day, shown_from_day, recorded_at_ms)
    select tenant_id, id, ${keptFromDay}::integer, ${Math.max(shownFromDay, keptFromDay)}::integer, ${nowMs}
    from projects project
    where tenant_id = ${tenantId}
      and (${shownFromDay}::integer > 0 or exists (select from usage_retention r where r.project_id = project.id))
    order by project.id
    on conflict (project_id) do update
      set retained_from_day = greatest(known.retained_from_day, excluded.retained_from_day),
        shown_from_day = greatest(known.retained_from_day, excluded.shown_from_day),
        recorded_at_ms = case when excluded.retained_from_day > known.retained_from_day
          then excluded.recorded_at_ms else known.recorded_at_ms end
      where excluded.retained_from_day > known.retained_from_day
        or known.shown_from_day <> greatest(known.retained_from_day, excluded.shown_from_day)
  `.execute(tx);
}

/**
 * Deletes failed events that are no longer kept, `limit` at most; answers how many. Leaves out what is being
 * reprocessed.
 */
export async function deleteFailedEvents(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from failed_events where ctid = any(array(
      select failed.ctid from usage_retention kept
      join failed_events failed on failed.project_id = kept.project_id
        and failed.occurred_at < kept.retained_from_day::bigint * ${DAY_S}::bigint
      limit ${limit} for update of failed skip locked))
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Takes it on to look through all history, if that is due; nobody else will before `untilMs`. */
export async function claimSweep(db: Db, nowMs: number, untilMs: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update retention_sweep set due_at_ms = ${untilMs} where due_at_ms <= ${nowMs}
  `.execute(db);
  return numAffectedRows === 1n;
}

export async function finishSweep(db: Db, sweptAtMs: number, dueAtMs: number): Promise<void> {
  await sql`update retention_sweep set swept_at_ms = ${sweptAtMs}, due_at_ms = ${dueAtMs}`.execute(db);
}

/** When it was last done to its end; null when it never was. */
export async function lastSweptAtMs(db: Db): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`select swept_at_ms as at from retention_sweep`.execute(
    db,
  );
  return rows[0]?.at ?? null;
}
