import { noteAllKeys } from '../../platform/changes/index.js';
import { transaction } from '../../platform/postgres/index.js';
import { eraseProjects } from '../archive/index.js';
import { markServed } from '../tenancy/index.js';
import { deleteHistory } from './history-copy-store.js';
import { type MoveDeps, type MovingProject, scopeOf } from './moving.js';
import { deleteSomeRows, readProjects } from './row-copy-store.js';
import * as states from './state-store.js';
import { tenantTables } from './tables.js';

/** Upper bound of the rows that one transaction deletes. */
const DELETED_ROWS_MAX = 10_000;
/** Name of the step that records the projects of a tenant, whose rows are deleted before the rest is. */
export const PROJECTS_STEP = 'projects';

/**
 * Deletes everything of a tenant that is `leaving` from both stores, and then the move itself. Returns whether nothing
 * is left; if deletions in ClickHouse still run, it returns false and must be called again.
 */
export async function eraseTenant(
  { postgres, clickhouse, archive }: Pick<MoveDeps, 'postgres' | 'clickhouse' | 'archive'>,
  tenantId: string,
  moveId: string,
): Promise<boolean> {
  const projects = await recordProjects({ postgres }, tenantId);
  // First, because a rebuild brings archived rows back into ClickHouse.
  if (archive !== undefined) {
    await eraseProjects(
      { postgres, clickhouse, archive },
      projects.map(({ id }) => id),
    );
  }
  let isGone = true;
  for (const project of projects) {
    // The lock of the state is held meanwhile: a late call must not delete the history of a tenant that is back.
    const isDeleted = await transaction(postgres, async (tx) => {
      if (!(await states.writeAsMove(tx, tenantId, moveId, ['leaving']))) return false;
      return deleteHistory(clickhouse, scopeOf(tenantId, project));
    });
    if (!isDeleted) isGone = false;
  }
  // The move still names the projects; without them, blocks of the archive would belong to nobody.
  if (!isGone) return false;
  // Rows that refer to others are deleted first.
  for (const table of tenantTables().reverse()) {
    for (let deleted = DELETED_ROWS_MAX; deleted === DELETED_ROWS_MAX; ) {
      deleted = await transaction(postgres, async (tx) => {
        if (!(await states.writeAsMove(tx, tenantId, moveId, ['leaving']))) return 0;
        return deleteSomeRows(tx, { tenantId, projects }, table, DELETED_ROWS_MAX);
      });
    }
  }
  await transaction(postgres, async (tx) => {
    if (await states.deleteMove(tx, tenantId, moveId, ['leaving'])) await markServed(tx, tenantId);
    // Processes must not remember usage of the tenant when it comes back.
    await noteAllKeys(tx);
  });
  return true;
}

async function recordProjects(
  { postgres }: Pick<MoveDeps, 'postgres'>,
  tenantId: string,
): Promise<readonly MovingProject[]> {
  const recorded = (await states.readSteps(postgres.db, tenantId)).get(PROJECTS_STEP);
  if (recorded !== undefined) return recorded as MovingProject[];
  const projects = await readProjects(postgres.db, tenantId);
  await states.writeStep(postgres.db, tenantId, PROJECTS_STEP, projects);
  return projects;
}
