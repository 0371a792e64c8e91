import type { ProjectTx } from '../../../platform/postgres/index.js';

/**
 * Advances the revision of a project, by which caches notice changes. Every change of routes, plans or limits does this
 * first, and holds the row until its transaction ends. So the changes of a project run one after the other, and cannot
 * deadlock.
 */
export async function advanceRevision(tx: ProjectTx): Promise<void> {
  await tx.change`
    insert into limit_revisions as r (tenant_id, project_id, revision) values (${tx.ownValues()}, 1)
    on conflict (project_id) do update set revision = r.revision + 1`;
}
