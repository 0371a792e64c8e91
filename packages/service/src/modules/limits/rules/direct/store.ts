import type { LimitEffective } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Page } from '../../../../kernel/page.js';
import type { Db, Tx } from '../../../../platform/postgres/index.js';
import type { LimitOwner } from '../owner.js';
import type { RuleRow } from '../rule-row.js';

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
export interface DirectLimitKey extends LimitOwner {
  readonly routeId: string;
  readonly limitId: string;
}

export async function insertLimit(tx: Tx, limit: DirectLimitRow): Promise<void> {
  await tx
    .insertInto('direct_limits')
    .values({ ...limit, notify_at: [...limit.notify_at] })
    .execute();
}

export async function updateLimit(tx: Tx, limit: DirectLimitRow): Promise<void> {
  const { tenant_id, project_id, route_id, id, created_at, ...changed } = limit;
  await tx
    .updateTable('direct_limits')
    .set({ ...changed, notify_at: [...changed.notify_at] })
    .where('tenant_id', '=', tenant_id)
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute();
}

/** Deletes a limit with its past amounts. */
export async function deleteLimit(tx: Tx, key: DirectLimitKey): Promise<void> {
  await tx
    .deleteFrom('direct_limits')
    .where('tenant_id', '=', key.tenantId)
    .where('project_id', '=', key.projectId)
    .where('route_id', '=', key.routeId)
    .where('id', '=', key.limitId)
    .execute();
}

export async function findLimit(db: Db, key: DirectLimitKey): Promise<DirectLimitRow | undefined> {
  const { rows } = await sql<DirectLimitRow>`
    select * from direct_limits
    where tenant_id = ${key.tenantId} and project_id = ${key.projectId}
      and route_id = ${key.routeId} and id = ${key.limitId}
  `.execute(db);
  return rows[0];
}

/** Returns the limits of a route by their keys. */
export async function readKeys(
  tx: Tx,
  owner: LimitOwner,
  routeId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx
    .selectFrom('direct_limits')
    .select(['limit_key', 'id'])
    .where('tenant_id', '=', owner.tenantId)
    .where('project_id', '=', owner.projectId)
    .where('route_id', '=', routeId)
    .execute();
  return new Map(rows.map(({ limit_key, id }) => [limit_key, id]));
}

/** Returns the limits of a route, oldest first. */
export async function listLimits(
  db: Db,
  owner: LimitOwner,
  routeId: string,
  { limit, offset }: Page,
): Promise<{ rows: DirectLimitRow[]; totalCount: number }> {
  const found = sql`from direct_limits
    where tenant_id = ${owner.tenantId} and project_id = ${owner.projectId} and route_id = ${routeId}`;
  const { rows } = await sql<DirectLimitRow>`
    select * ${found} order by id limit ${limit} offset ${offset}
  `.execute(db);
  const { rows: counted } = await sql<{ total: number }>`select count(*) as total ${found}`.execute(db);
  return { rows, totalCount: counted[0]?.total ?? 0 };
}

export async function insertAmount(
  tx: Tx,
  { tenant_id, project_id, id }: DirectLimitRow,
  amount: LimitAmount,
): Promise<void> {
  await tx
    .insertInto('direct_limit_amounts')
    .values({ tenant_id, project_id, direct_limit_id: id, ...amount })
    .execute();
}

/** Returns the newest amount of a limit. */
export async function findNewestAmount(
  tx: Tx,
  { tenant_id, project_id, id }: DirectLimitRow,
): Promise<LimitAmount | undefined> {
  const { rows } = await sql<LimitAmount>`
    select changed_at_ms, rule_no, limit_amount, effective from direct_limit_amounts
    where tenant_id = ${tenant_id} and project_id = ${project_id} and direct_limit_id = ${id}
    order by changed_at_ms desc limit 1
  `.execute(tx);
  return rows[0];
}
