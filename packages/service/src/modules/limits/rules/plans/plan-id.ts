import { invalidRequest } from '../../../../kernel/errors.js';
import type { Db } from '../../../../platform/postgres/index.js';
import type { LimitOwner } from '../owner.js';
import { findPlan, findPlanOfVersion } from './store.js';

/** Returns the plan id for an id of the plan or of any of its versions; any other id is returned as it is. */
export async function planIdOf(db: Db, owner: LimitOwner, id: string): Promise<string> {
  return (await findPlanOfVersion(db, owner, id))?.planId ?? id;
}

/**
 * Returns the plan that an id names where something is done with the plan as it is now. Lists and `publish`
 * show plans by a version, so the id of the version in force is taken, and that of the draft where
 * `takesDraft` says so. An older version might be meant to be changed or bound itself, which none can be.
 *
 * @param path of the id in the request
 * @throws DomainError `invalid_request` that says which version the id is, and of which plan
 */
export async function currentPlanIdOf(
  db: Db,
  owner: LimitOwner,
  id: string,
  { path, takesDraft }: { readonly path: string; readonly takesDraft: boolean },
): Promise<string> {
  const version = await findPlanOfVersion(db, owner, id);
  if (version === undefined) return id;
  const { planId, revision } = version;
  const current = (await findPlan(db, owner, planId))?.current_revision;
  if (revision === 0 ? takesDraft || current === 0 : revision === current) return planId;
  const named = revision === 0 ? 'the draft' : `revision ${revision}`;
  throw invalidRequest(
    path,
    `expected the id of a plan: ${id} is ${named} of ${planId}, which is at revision ${current}`,
  );
}
