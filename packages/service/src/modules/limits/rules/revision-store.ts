import { sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';
import type { LimitOwner } from './owner.js';

/**
 * Tells every cache that the routes, plans or limits of a project have changed. Whoever writes to them does
 * this first, and holds the row until the transaction ends: writers of a project go one at a time, and cannot
 * deadlock.
 */
export async function advanceRevision(tx: Tx, { tenantId, projectId }: LimitOwner): Promise<void> {
  await sql`
    insert into limit_revisions as r (tenant_id, project_id, revision) values (${tenantId}, ${projectId}, 1)
    on conflict (project_id) do update set revision = r.revision + 1
  `.execute(tx);
}
