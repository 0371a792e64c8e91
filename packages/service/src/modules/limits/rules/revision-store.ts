import { sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';
import type { LimitOwner } from './owner.js';

/**
 * Advances the revision of a project, by which caches notice changes. Every change of routes, plans or limits does this
 * first, and holds the row until its transaction ends. So the changes of a project run one after the other, and cannot
 * deadlock.
 */
export async function advanceRevision(tx: Tx, { tenantId, projectId }: LimitOwner): Promise<void> {
  await sql`
    insert into limit_revisions as r (tenant_id, project_id, revision) values (${tenantId}, ${projectId}, 1)
    on conflict (project_id) do update set revision = r.revision + 1
  `.execute(tx);
}
