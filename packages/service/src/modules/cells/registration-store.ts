import { sql } from 'kysely';
import { isNotMoving, type Postgres } from '../../platform/postgres/index.js';
import type { Registration } from './directory-store.js';

/** The SQL that reads the tenants of a cell, and their addresses, for the directory. */
type Cell = Pick<Postgres, 'db'>;

const IS_SERVED = sql`not exists (select from unserved_tenants where unserved_tenants.tenant_id = tenants.id)`;

/** Returns the next served tenants of this cell after `afterId`, with all their addresses, ordered by id. */
export async function readRegistrations(
  { db }: Cell,
  afterId: string,
  limit: number,
): Promise<Registration[]> {
  const { rows } = await sql<Registration>`
    select tenants.id as "tenantId",
      array[tenants.id]
        || array(select projects.id from projects where projects.tenant_id = tenants.id)
        || array(select encode(key_hash, 'hex') from api_keys where api_keys.tenant_id = tenants.id) as addresses
    from tenants where tenants.id > ${afterId} and ${IS_SERVED} order by tenants.id limit ${limit}
  `.execute(db);
  return rows;
}

/** Returns the number of served tenants of this cell, and of their addresses. */
export async function countServed({ db }: Cell): Promise<{ tenants: number; addresses: number }> {
  const { rows } = await sql<{ tenants: number; addresses: number }>`
    with served as materialized (select id from tenants where ${IS_SERVED})
    select (select count(*) from served) as tenants,
      (select count(*) from served)
        + (select count(*) from projects where tenant_id in (select id from served))
        + (select count(*) from api_keys where tenant_id in (select id from served)) as addresses
  `.execute(db);
  return rows[0] ?? { tenants: 0, addresses: 0 };
}

/** Returns how many events of each tenant were ever rated, here or before it moved here, without moving tenants. */
export async function countEvents({ db }: Cell): Promise<Map<string, number>> {
  const { rows } = await sql<{ tenantId: string; total: number }>`
    select tenant_id as "tenantId", sum(processed_count + failed_count + duplicate_count)::bigint as total
    from ingest_totals where ${isNotMoving('tenant_id')} group by tenant_id
  `.execute(db);
  return new Map(rows.map(({ tenantId, total }) => [tenantId, total]));
}
