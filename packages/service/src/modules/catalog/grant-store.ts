import type { CatalogPlan } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import type { Db, TenantDb, TenantTx } from '../../platform/postgres/index.js';
import type { PlanGrant } from './grant.js';

interface GrantRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly plan: CatalogPlan;
  readonly source: string;
  readonly starts_at: number;
  readonly ends_at: number;
  readonly ended_at: number | null;
  readonly created_at: number;
}

/** Locks the grants of one tenant until `tx` ends, because the start of a grant depends on those before it. */
export async function lockGrants(tx: TenantTx): Promise<void> {
  await tx.lock('grants');
}

/** Locks one allowance of a tenant until `tx` ends, so that what is counted against it stays so. */
export async function lockAllowance(tx: TenantTx, limit: string): Promise<void> {
  await tx.lock('allowance', limit);
}

/** Returns the grants of a tenant that have not ended at a time, by their start. */
export async function openGrants(db: TenantDb, atS: number): Promise<PlanGrant[]> {
  const rows = await db.rows<GrantRow>`
    select tenant_id, id, plan, source, starts_at, ends_at, ended_at, created_at from entitlement_grants
    where ${db.isOwn()} and ends_at > ${atS} and (ended_at is null or ended_at > ${atS})
    order by starts_at, id`;
  return rows.map(grantOf);
}

/** Returns a page of a tenant's grants, the last to start first, and the number of all. */
export async function listGrants(db: TenantDb, { limit, offset }: Page): Promise<ListPage<PlanGrant>> {
  const rows = await db.rows<GrantRow>`
    select tenant_id, id, plan, source, starts_at, ends_at, ended_at, created_at from entitlement_grants
    where ${db.isOwn()} order by starts_at desc, id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`
    select count(*) as total from entitlement_grants where ${db.isOwn()}`;
  return { items: rows.map(grantOf), totalCount: counted?.total ?? 0 };
}

/** Returns the grant that was made for a source, of any tenant. */
export async function findGrantOfSource(db: Db, source: string): Promise<PlanGrant | undefined> {
  const { rows } = await sql<GrantRow>`
    select tenant_id, id, plan, source, starts_at, ends_at, ended_at, created_at from entitlement_grants
    where source = ${source}
  `.execute(db);
  return rows[0] === undefined ? undefined : grantOf(rows[0]);
}

export async function insertGrant(tx: TenantTx, grant: PlanGrant): Promise<void> {
  const row = {
    id: grant.id,
    plan_id: grant.plan.id,
    revision: grant.plan.revision,
    plan: JSON.stringify(grant.plan),
    source: grant.source,
    starts_at: grant.startsAt,
    ends_at: grant.endsAt,
    ended_at: grant.endedAt,
    created_at: grant.createdAt,
  };
  await tx.insert('entitlement_grants', row).execute();
}

/** Ends grants early. */
export async function endGrants(tx: TenantTx, ids: readonly string[], atS: number): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update('entitlement_grants', { ended_at: atS })
    .where('id', 'in', [...ids])
    .execute();
}

function grantOf(row: GrantRow): PlanGrant {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    plan: row.plan,
    source: row.source,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    endedAt: row.ended_at,
    createdAt: row.created_at,
  };
}
