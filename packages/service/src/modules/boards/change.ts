import type { ChangeContext } from '../../kernel/change-context.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { type Postgres, ProjectTx, TenantTx, transaction } from '../../platform/postgres/index.js';
import { audit, lockProject } from '../tenancy/index.js';

export interface BoardDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/** The result of a change, and its entry for the audit log. */
export interface BoardChange<Answer> {
  readonly answer: Answer;
  readonly resourceType: 'board' | 'chart';
  readonly verb: 'create' | 'update' | 'delete' | 'reorder';
  readonly resourceId: string;
  readonly change: object;
}

/**
 * Makes one change to the boards of a project together with its audit entry, or not at all. Changes of one project run
 * one after the other, so `work` may rely on what it reads, counts and adds up.
 *
 * @param work gets the time of the change in Unix seconds
 */
export async function changeBoards<Answer>(
  { postgres, clock }: BoardDeps,
  { project, principal, requestId }: ChangeContext,
  work: (tx: ProjectTx, atS: number) => Promise<BoardChange<Answer>>,
): Promise<Answer> {
  return transaction(postgres, async (tx) => {
    await lockProject(new TenantTx(tx, project.tenantId), project.projectId);
    const { answer, resourceType, verb, resourceId, change } = await work(
      new ProjectTx(tx, project),
      unixSeconds(clock),
    );
    await audit(tx, {
      tenantId: project.tenantId,
      projectId: project.projectId,
      principal,
      action: `${resourceType}.${verb}`,
      resourceType,
      resourceId,
      change,
      requestId,
      atMs: clock.nowMs(),
    });
    return answer;
  });
}

/** @throws DomainError `not_found` when there is no row */
export function foundBoard<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new DomainError('not_found');
  return row;
}
