import { type RawBuilder, sql } from 'kysely';

/**
 * Returns a condition for statements about rows of many tenants: the tenant in the given column is neither frozen nor
 * in another cell, so something may be written about it here. The tenants that move are few, and a statement reads them
 * once: PostgreSQL compares each row with a hash table of them.
 */
export function isNotMoving(tenantIdColumn: string): RawBuilder<boolean> {
  return sql`${sql.ref(tenantIdColumn)} not in (
    select tenant_id from tenant_moves where state in ('frozen', 'moved', 'arriving', 'leaving'))`;
}
