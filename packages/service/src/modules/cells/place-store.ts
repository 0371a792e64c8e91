import { sql } from 'kysely';
import type { Postgres } from '../../platform/postgres/index.js';

/** A connection to the database of the directory, never to that of a cell. */
type Directory = Pick<Postgres, 'db'>;

/** The place of a tenant. Every change increases the version. */
export interface TenantPlace {
  readonly tenantId: string;
  /** The cell that has the tenant. */
  readonly cell: string;
  /**
   * active: the cell serves the tenant. moving: it still does, while a copy is made. frozen: other cells forward no
   * requests of the tenant, because its cell changes.
   */
  readonly state: 'active' | 'moving' | 'frozen';
  /** The cell to which the tenant is being moved, until it is switched; otherwise null. */
  readonly toCell: string | null;
  /** The cell that a switched tenant comes from, until its new cell serves it; otherwise null. */
  readonly fromCell: string | null;
  readonly version: number;
}

/** The columns of a TenantPlace. */
export const PLACE = sql.raw(
  'tenants.tenant_id as "tenantId", tenants.cell, tenants.state, tenants.to_cell as "toCell", tenants.from_cell as "fromCell", tenants.version',
);

export async function findPlace({ db }: Directory, tenantId: string): Promise<TenantPlace | undefined> {
  const { rows } = await sql<TenantPlace>`
    select ${PLACE} from tenants where tenant_id = ${tenantId}
  `.execute(db);
  return rows[0];
}

/** Returns the next tenants of a cell after `afterId`, ordered by id. */
export async function listPlaces(
  { db }: Directory,
  cell: string,
  afterId: string,
  limit: number,
): Promise<TenantPlace[]> {
  const { rows } = await sql<TenantPlace>`
    select ${PLACE} from tenants where cell = ${cell} and tenant_id > ${afterId}
    order by tenant_id limit ${limit}
  `.execute(db);
  return rows;
}

// A move takes four steps, and can be cancelled before the third. Each is a compare-and-set: it returns the new place,
// or undefined when the tenant's place has changed.

/** Step 1: the tenant is `moving`. Returns undefined also when the target is not an active cell. */
export async function beginMove(
  { db }: Directory,
  { tenantId, version }: TenantPlace,
  toCell: string,
): Promise<TenantPlace | undefined> {
  const { rows } = await sql<TenantPlace>`
    update tenants set state = 'moving', to_cell = ${toCell}, version = version + 1
    where tenant_id = ${tenantId} and version = ${version} and state = 'active' and cell <> ${toCell}
      and exists (select from cells where name = ${toCell} and status = 'active')
    returning ${PLACE}
  `.execute(db);
  return rows[0];
}

/** Before the steps of a move are taken again: makes a new version, so that an earlier run can change nothing more. */
export async function resumeMove(
  { db }: Directory,
  { tenantId, version }: TenantPlace,
): Promise<TenantPlace | undefined> {
  const { rows } = await sql<TenantPlace>`
    update tenants set version = version + 1
    where tenant_id = ${tenantId} and version = ${version} and to_cell is not null
    returning ${PLACE}
  `.execute(db);
  return rows[0];
}

/** Step 2: the tenant is `frozen`: other cells refuse its requests; its old cell serves reads until it is closed. */
export async function freezeTenant(
  { db }: Directory,
  { tenantId, version }: TenantPlace,
): Promise<TenantPlace | undefined> {
  const { rows } = await sql<TenantPlace>`
    update tenants set state = 'frozen', version = version + 1
    where tenant_id = ${tenantId} and version = ${version} and state = 'moving'
    returning ${PLACE}
  `.execute(db);
  return rows[0];
}

/** Step 3: the tenant belongs to the cell to which it was moved, and stays `frozen` until that cell serves it. */
export async function switchTenant(
  { db }: Directory,
  { tenantId, version }: TenantPlace,
  from: string,
  to: string,
): Promise<TenantPlace | undefined> {
  const { rows } = await sql<TenantPlace>`
    update tenants set cell = ${to}, to_cell = null, from_cell = ${from}, version = version + 1
    where tenant_id = ${tenantId} and version = ${version} and state = 'frozen' and cell = ${from} and to_cell = ${to}
    returning ${PLACE}
  `.execute(db);
  return rows[0];
}

/** Step 4: the tenant is `active` in its new cell, which serves it. */
export async function openTenant(
  { db }: Directory,
  { tenantId, version }: TenantPlace,
): Promise<TenantPlace | undefined> {
  const { rows } = await sql<TenantPlace>`
    update tenants set state = 'active', from_cell = null, version = version + 1
    where tenant_id = ${tenantId} and version = ${version} and from_cell is not null
    returning ${PLACE}
  `.execute(db);
  return rows[0];
}

/** Ends a move that did not reach step 3: the tenant is `active` where it was. */
export async function cancelMove(
  { db }: Directory,
  { tenantId, version }: TenantPlace,
): Promise<TenantPlace | undefined> {
  const { rows } = await sql<TenantPlace>`
    update tenants set state = 'active', to_cell = null, version = version + 1
    where tenant_id = ${tenantId} and version = ${version} and to_cell is not null
    returning ${PLACE}
  `.execute(db);
  return rows[0];
}
