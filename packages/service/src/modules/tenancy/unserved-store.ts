import type { Db } from '../../platform/postgres/index.js';

/**
 * Stops serving a tenant: its keys and projects are not found here any more. Other processes may serve its requests for
 * KEY_CACHE_MS_MAX longer, and finish those that they have begun. A repeated call changes nothing.
 */
export async function markUnserved(db: Db, tenantId: string, nowMs: number): Promise<void> {
  await db
    .insertInto('unserved_tenants')
    .values({ tenant_id: tenantId, since_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Serves a tenant again. Other processes may refuse its requests for KEY_CACHE_MS_MAX longer. */
export async function markServed(db: Db, tenantId: string): Promise<void> {
  await db.deleteFrom('unserved_tenants').where('tenant_id', '=', tenantId).execute();
}

/** Returns whether this installation has the tenant, and serves it. */
export async function isServed(db: Db, tenantId: string): Promise<boolean> {
  const row = await db
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', tenantId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('unserved_tenants').select('tenant_id').whereRef('tenant_id', '=', 'tenants.id')),
      ),
    )
    .executeTakeFirst();
  return row !== undefined;
}
