import type { WeekStart } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ListPage, Page } from '../../../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../../../platform/postgres/index.js';

/** Times are Unix seconds unless the name ends in `_ms`. */
export interface RouteRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly subject_type: string;
  readonly subject_id: string;
  /** Null only with a parent: then the account of a level above is debited. */
  readonly account_id: string | null;
  readonly parent_type: string | null;
  readonly parent_id: string | null;
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
  readonly [Column in
    | 'subject_type'
    | 'subject_id'
    | 'parent_type'
    | 'parent_id'
    | 'account_id'
    | 'usage_limit_plan_id']?: string | undefined;
};

export async function insertRoute(tx: ProjectTx, route: RouteRow): Promise<void> {
  await tx.insert('subject_routes', route).execute();
}

export async function updateRoute(tx: ProjectTx, route: RouteRow): Promise<void> {
  const { tenant_id, project_id, id, created_at, ...changed } = route;
  await tx.update('subject_routes', changed).where('id', '=', id).execute();
}

/** Deletes a route with its direct limits. */
export async function deleteRoute(tx: ProjectTx, routeId: string): Promise<void> {
  await tx.deleteFrom('subject_routes').where('id', '=', routeId).execute();
}

export function findRoute(db: ProjectDb, routeId: string): Promise<RouteRow | undefined> {
  return db.row<RouteRow>`select * from subject_routes where ${db.isOwn()} and id = ${routeId}`;
}

/** Returns the id of the route for exactly this subject. */
export async function findRouteOfSubject(
  db: ProjectDb,
  subject: Pick<RouteRow, 'subject_type' | 'subject_id'>,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('subject_routes')
    .select('id')
    .where('subject_type', '=', subject.subject_type)
    .where('subject_id', '=', subject.subject_id)
    .executeTakeFirst();
  return row?.id;
}

/** Returns the routes that fit the filter, newest first. */
export async function listRoutes(
  db: ProjectDb,
  filter: RouteFilter,
  { limit, offset }: Page,
): Promise<ListPage<RouteRow>> {
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
  const found = db.part`
    from subject_routes where ${db.isOwn()}
    ${sql.join(
      asked.map(([column, value]) => sql`and ${sql.ref(column)} = ${value}`),
      sql` `,
    )}`;
  const rows = await db.rows<RouteRow>`select * ${found} order by id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items: rows, totalCount: counted?.total ?? 0 };
}
