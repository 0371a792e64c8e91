import type { WeekStart } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Page } from '../../../../kernel/page.js';
import type { Db, Tx } from '../../../../platform/postgres/index.js';
import type { LimitOwner } from '../owner.js';

/** Times are Unix seconds unless the name ends in `_ms`. */
export interface RouteRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly account_id: string;
  readonly usage_limit_plan_id: string | null;
  readonly plan_bound_at_ms: number | null;
  readonly usage_limit_anchor: number;
  readonly timezone: string;
  readonly week_start: WeekStart;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Only routes with these values; undefined for any value. */
export type RouteFilter = {
  readonly [Column in 'subject_type' | 'subject_id' | 'account_id' | 'usage_limit_plan_id']?:
    | string
    | undefined;
};

export async function insertRoute(tx: Tx, route: RouteRow): Promise<void> {
  await tx.insertInto('subject_routes').values(route).execute();
}

export async function updateRoute(tx: Tx, route: RouteRow): Promise<void> {
  const { tenant_id, project_id, id, created_at, ...changed } = route;
  await tx
    .updateTable('subject_routes')
    .set(changed)
    .where('tenant_id', '=', tenant_id)
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute();
}

/** Deletes a route with its direct limits. */
export async function deleteRoute(tx: Tx, owner: LimitOwner, routeId: string): Promise<void> {
  await tx
    .deleteFrom('subject_routes')
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('id', '=', routeId)
    .execute();
}

export async function findRoute(db: Db, owner: LimitOwner, routeId: string): Promise<RouteRow | undefined> {
  const { rows } = await sql<RouteRow>`
    select * from subject_routes
    where tenant_id = ${owner.tenantId} and project_id = ${owner.projectId} and id = ${routeId}
  `.execute(db);
  return rows[0];
}

/** Returns the id of the route of exactly this subject. */
export async function findRouteOfSubject(
  db: Db,
  owner: LimitOwner,
  subject: Pick<RouteRow, 'subject_type' | 'subject_id'>,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('subject_routes')
    .select('id')
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('subject_type', '=', subject.subject_type)
    .where('subject_id', '=', subject.subject_id)
    .executeTakeFirst();
  return row?.id;
}

/** Returns routes, newest first. */
export async function listRoutes(
  db: Db,
  owner: LimitOwner,
  filter: RouteFilter,
  { limit, offset }: Page,
): Promise<{ rows: RouteRow[]; totalCount: number }> {
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
  const found = sql`
    from subject_routes where tenant_id = ${owner.tenantId} and project_id = ${owner.projectId}
    ${sql.join(
      asked.map(([column, value]) => sql`and ${sql.ref(column)} = ${value}`),
      sql` `,
    )}`;
  const { rows } = await sql<RouteRow>`
    select * ${found} order by id desc limit ${limit} offset ${offset}
  `.execute(db);
  const { rows: counted } = await sql<{ total: number }>`select count(*) as total ${found}`.execute(db);
  return { rows, totalCount: counted[0]?.total ?? 0 };
}
