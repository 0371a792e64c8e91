import type { ListPage, Page } from '../../../../kernel/page.js';
import { present } from '../../../../kernel/present.js';
import type { ProjectDb, ProjectTx } from '../../../../platform/postgres/index.js';

/** Times are Unix milliseconds. */
export interface RaiseRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly route_id: string;
  readonly limit_key: string;
  /** A decimal. */
  readonly amount: string;
  readonly from_ms: number;
  readonly until_ms: number;
  readonly ended_at_ms: number | null;
  readonly reason: string;
  readonly created_by: string;
}

/** Identifies a raise; one of another route is not found. */
export interface RaiseKey {
  readonly routeId: string;
  readonly raiseId: string;
}

export async function insertRaise(tx: ProjectTx, raise: RaiseRow): Promise<void> {
  await tx.insert('limit_raises', raise).execute();
}

export async function endRaise(tx: ProjectTx, id: string, atMs: number): Promise<void> {
  await tx.update('limit_raises', { ended_at_ms: atMs }).where('id', '=', id).execute();
}

export function findRaise(db: ProjectDb, { routeId, raiseId }: RaiseKey): Promise<RaiseRow | undefined> {
  return db.row<RaiseRow>`
    select * from limit_raises where ${db.isOwn()} and route_id = ${routeId} and id = ${raiseId}`;
}

/** Returns the number of raises of a route that have not ended. */
export async function countActiveRaises(db: ProjectDb, routeId: string, nowMs: number): Promise<number> {
  const row = await db.row<{ total: number }>`
    select count(*) as total from limit_raises
    where ${db.isOwn()} and route_id = ${routeId} and until_ms > ${nowMs} and ended_at_ms is null`;
  return present(row, 'the number of raises').total;
}

/** Returns the raises of a route, newest first. */
export async function listRaises(
  db: ProjectDb,
  routeId: string,
  { limit, offset }: Page,
): Promise<ListPage<RaiseRow>> {
  const found = db.part`from limit_raises where ${db.isOwn()} and route_id = ${routeId}`;
  const items = await db.rows<RaiseRow>`select * ${found} order by id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items, totalCount: present(counted, 'the number of raises').total };
}

/** Whether a route has a limit of this name: a rule of the active revision of its plan, or a direct limit. */
export async function hasLimitOfKey(db: ProjectDb, routeId: string, limitKey: string): Promise<boolean> {
  const row = await db.row<{ found: boolean }>`
    select exists (
      select from direct_limits d
      where ${db.isOwn('d')} and d.route_id = ${routeId} and d.limit_key = ${limitKey}
    ) or exists (
      select from subject_routes r
      join usage_limit_plans p on p.project_id = r.project_id and p.id = r.usage_limit_plan_id
      join usage_limit_plan_versions v
        on v.project_id = p.project_id and v.plan_id = p.id and v.revision = p.current_revision
      join usage_limit_plan_rules u on u.project_id = v.project_id and u.plan_version_id = v.id
      where ${db.isOwn('r')} and r.id = ${routeId} and p.current_revision > 0 and u.limit_key = ${limitKey}
    ) as found`;
  return present(row, 'the limits of a route').found;
}
