import { invalidRequest } from '../../../../kernel/errors.js';
import type { ProjectDb } from '../../../../platform/postgres/index.js';
import { findPlan, findPlanOfVersion } from './store.js';

/** Returns the plan id for an id of the plan or of any of its versions; any other id is returned as it is. */
export async function planIdOf(db: ProjectDb, id: string): Promise<string> {
  return (await findPlanOfVersion(db, id))?.planId ?? id;
}

/**
 * Returns the id of the plan that a request wants to change or bind. Lists and `publish` show plans by a version, so
 * the id of the active version is accepted, and that of the draft if `takesDraft`. The id of an older version is
 * refused: the client might mean that version, which can neither be changed nor bound.
 *
 * @param path of the id in the request
 * @throws DomainError `invalid_request` that says which version the id names, and of which plan
 */
export async function currentPlanIdOf(
  db: ProjectDb,
  id: string,
  { path, takesDraft }: { readonly path: string; readonly takesDraft: boolean },
): Promise<string> {
  const version = await findPlanOfVersion(db, id);
  if (version === undefined) return id;
  const { planId, revision } = version;
  const current = (await findPlan(db, planId))?.current_revision;
  if (revision === 0 ? takesDraft || current === 0 : revision === current) return planId;
  const named = revision === 0 ? 'the draft' : `revision ${revision}`;
  throw invalidRequest(
    path,
    `expected the id of a plan: ${id} is ${named} of ${planId}, which is at revision ${current}`,
  );
}
