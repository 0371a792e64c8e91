import { sql } from 'kysely';
import type { Db, Postgres } from '../../platform/postgres/index.js';

/** Makes the events of a tenant count in a month. Repeating it changes nothing. */
export async function openQuota(
  { db }: Pick<Postgres, 'db'>,
  tenantId: string,
  monthStartS: number,
): Promise<void> {
  await sql`
    insert into event_quotas (tenant_id, month_start, used) values (${tenantId}, ${monthStartS}, 0)
    on conflict do nothing
  `.execute(db);
}

/** Returns how many events of a tenant were accepted in a month, retries included. */
export async function usedEvents(db: Db, tenantId: string, monthStartS: number): Promise<number> {
  const { rows } = await sql<{ used: number }>`
    select used from event_quotas where tenant_id = ${tenantId} and month_start = ${monthStartS}
  `.execute(db);
  return rows[0]?.used ?? 0;
}
