import { SUBJECT_LEVELS_MAX, type SubjectRoute } from '@tollgate/contract';
import { DomainError, invalidRequest } from '../../../../kernel/errors.js';
import type { ProjectTx } from '../../../../platform/postgres/index.js';
import { EVERY_SUBJECT } from '../route-rules.js';
import { levelsDown, readChain } from './parent-store.js';
import type { RouteRow } from './store.js';

type ParentFields = Pick<RouteRow, 'parent_type' | 'parent_id'>;

/** Returns the columns of a parent. */
export function parentFields(parent: SubjectRoute['parent']): ParentFields {
  return { parent_type: parent?.subject_type ?? null, parent_id: parent?.subject_id ?? null };
}

/** Returns the parent as the API shows it. */
export function parentView({ parent_type, parent_id }: ParentFields): SubjectRoute['parent'] {
  return parent_type === null || parent_id === null
    ? null
    : { subject_type: parent_type, subject_id: parent_id };
}

/**
 * Checks the chain of a route as it is stored now, and those of the routes below it. Changes of a project run one after
 * the other, so no other change can make a chain wrong meanwhile.
 *
 * @throws DomainError `invalid_request` for a parent without a route; `subject_cycle`, `subject_too_deep`
 */
export async function refuseWrongChain(tx: ProjectTx, route: RouteRow): Promise<void> {
  if (route.parent_type === null) return;
  if (route.parent_id === EVERY_SUBJECT) {
    throw invalidRequest('parent.subject_id', 'expected the id of one subject, not `*`');
  }
  const chain = await readChain(tx, route.id);
  if (chain.slice(1).some(({ id }) => id === route.id)) {
    throw wrongParent('subject_cycle', route, 'is below the subject itself');
  }
  const levels = chain.length - 1 + (await levelsDown(tx, route.id));
  if (levels > SUBJECT_LEVELS_MAX) {
    const limit = `${SUBJECT_LEVELS_MAX} levels (SUBJECT_LEVELS_MAX) are the maximum`;
    throw wrongParent('subject_too_deep', route, `makes a chain of at least ${levels} levels: ${limit}`);
  }
  if (chain.at(-1)?.has_parent !== false) {
    throw invalidRequest('parent', 'expected a subject with a route, its own or a `*` route');
  }
}

/**
 * Refuses to take the route of a subject away from the routes below it.
 *
 * @throws DomainError `route_has_children`
 */
export async function refuseOrphans(
  tx: ProjectTx,
  { id, subject_type, subject_id }: RouteRow,
): Promise<void> {
  if ((await levelsDown(tx, id)) === 1) return;
  const message = `routes have the subject ${subject_type} ${subject_id} as their parent`;
  throw new DomainError('route_has_children', {
    message: `Other ${message}. Give them another parent first.`,
    details: [{ path: 'id', message }],
  });
}

function wrongParent(
  code: 'subject_cycle' | 'subject_too_deep',
  { parent_type, parent_id }: RouteRow,
  problem: string,
): DomainError {
  const message = `${parent_type} ${parent_id} ${problem}`;
  return new DomainError(code, { message: `${message}.`, details: [{ path: 'parent', message }] });
}
