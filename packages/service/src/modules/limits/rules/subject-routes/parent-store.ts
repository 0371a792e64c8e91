import { SUBJECT_LEVELS_MAX } from '@tollgate/contract';
import { present } from '../../../../kernel/present.js';
import type { ProjectTx } from '../../../../platform/postgres/index.js';
import { EVERY_SUBJECT } from '../route-rules.js';

/** A route of a chain. */
interface ChainRow {
  readonly id: string;
  readonly has_parent: boolean;
}

/**
 * Returns a route and those above it, one more than a chain may have at most. The parent of a route is a subject, whose
 * route is its own or, without one, that of every subject of its type.
 */
export function readChain(tx: ProjectTx, routeId: string): Promise<ChainRow[]> {
  return tx.rows<ChainRow>`
    with recursive chain (id, parent_type, parent_id, level) as (
      select id, parent_type, parent_id, 0 from subject_routes where ${tx.isOwn()} and id = ${routeId}
      union all
      select above.id, above.parent_type, above.parent_id, c.level + 1
      from chain c
      cross join lateral (
        select r.id, r.parent_type, r.parent_id from subject_routes r
        where ${tx.isOwn('r')} and r.subject_type = c.parent_type and r.subject_id in (c.parent_id, ${EVERY_SUBJECT})
        order by r.subject_id = ${EVERY_SUBJECT} limit 1
      ) above
      where c.level < ${SUBJECT_LEVELS_MAX}
    )
    select id, parent_type is not null as has_parent from chain order by level`;
}

/** Returns the number of levels from a route down to the lowest below it, at most one more than a chain may have. */
export async function levelsDown(tx: ProjectTx, routeId: string): Promise<number> {
  const row = await tx.row<{ levels: number }>`
    with recursive below (id, subject_type, subject_id, level) as (
      select id, subject_type, subject_id, 1 from subject_routes where ${tx.isOwn()} and id = ${routeId}
      union
      select r.id, r.subject_type, r.subject_id, b.level + 1
      from below b
      join subject_routes r on ${tx.isOwn('r')} and r.parent_type = b.subject_type
        and (r.parent_id = b.subject_id or b.subject_id = ${EVERY_SUBJECT} and not exists (
          select from subject_routes other
          where ${tx.isOwn('other')} and other.subject_type = r.parent_type and other.subject_id = r.parent_id
        ))
      where b.level <= ${SUBJECT_LEVELS_MAX}
    )
    select max(level) as levels from below`;
  return present(row, 'the levels below a route').levels;
}
