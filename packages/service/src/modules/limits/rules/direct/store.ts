import type { LimitEffective } from '@tollgate/contract';
import type { ListPage, Page } from '../../../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../../../platform/postgres/index.js';
import { type RuleRow, withOwnLists } from '../rule-row.js';

export interface DirectLimitRow extends RuleRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly route_id: string;
}

/** The amount that a direct limit allows from a time on. */
export interface LimitAmount {
  readonly changed_at_ms: number;
  readonly rule_no: number;
  readonly limit_amount: string;
  readonly effective: LimitEffective;
}

/** Identifies a direct limit; a limit of another route is not found. */
export interface DirectLimitKey {
  readonly routeId: string;
  readonly limitId: string;
}

export async function insertLimit(tx: ProjectTx, limit: DirectLimitRow): Promise<void> {
  await tx.insert('direct_limits', withOwnLists(limit)).execute();
}

export async function updateLimit(tx: ProjectTx, limit: DirectLimitRow): Promise<void> {
  const { tenant_id, project_id, route_id, id, created_at, ...changed } = limit;
  await tx.update('direct_limits', withOwnLists(changed)).where('id', '=', id).execute();
}

/** Deletes a limit with its past amounts. */
export async function deleteLimit(tx: ProjectTx, { routeId, limitId }: DirectLimitKey): Promise<void> {
  await tx.deleteFrom('direct_limits').where('route_id', '=', routeId).where('id', '=', limitId).execute();
}

export function findLimit(
  db: ProjectDb,
  { routeId, limitId }: DirectLimitKey,
): Promise<DirectLimitRow | undefined> {
  return db.row<DirectLimitRow>`
    select * from direct_limits where ${db.isOwn()} and route_id = ${routeId} and id = ${limitId}`;
}

/** Returns the limits of a route by their keys. */
export async function readKeys(tx: ProjectTx, routeId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await tx
    .selectFrom('direct_limits')
    .select(['limit_key', 'id'])
    .where('route_id', '=', routeId)
    .execute();
  return new Map(rows.map(({ limit_key, id }) => [limit_key, id]));
}

/** Returns the limits of a route, oldest first. */
export async function listLimits(
  db: ProjectDb,
  routeId: string,
  { limit, offset }: Page,
): Promise<ListPage<DirectLimitRow>> {
  const found = db.part`from direct_limits where ${db.isOwn()} and route_id = ${routeId}`;
  const rows = await db.rows<DirectLimitRow>`select * ${found} order by id limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items: rows, totalCount: counted?.total ?? 0 };
}

export async function insertAmount(tx: ProjectTx, limitId: string, amount: LimitAmount): Promise<void> {
  await tx.insert('direct_limit_amounts', { direct_limit_id: limitId, ...amount }).execute();
}

/** Returns the newest amount of a limit. */
export function findNewestAmount(tx: ProjectTx, limitId: string): Promise<LimitAmount | undefined> {
  return tx.row<LimitAmount>`
    select changed_at_ms, rule_no, limit_amount, effective from direct_limit_amounts
    where ${tx.isOwn()} and direct_limit_id = ${limitId}
    order by changed_at_ms desc limit 1`;
}
