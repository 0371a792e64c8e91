import type { ChangeContext } from '../../../kernel/change-context.js';
import type { Clock } from '../../../kernel/clock.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { type Postgres, ProjectTx, type Tx, transaction } from '../../../platform/postgres/index.js';
import { audit } from '../../tenancy/index.js';
import type { LimitAdmission } from './admission.js';
import type { LimitCatalog } from './index.js';
import { advanceRevision } from './revision-store.js';

export interface LimitDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  /** The catalog of this process; it is notified of every change that is made here. */
  readonly catalog: Pick<LimitCatalog, 'forget'>;
  readonly admission: LimitAdmission;
}

/**
 * Returns the subject types that usage of a project has, or that its extractors set, where this one is not among them;
 * undefined where it is.
 */
export type OtherSubjectTypes = (
  project: ProjectRef,
  subjectType: string,
) => Promise<readonly string[] | undefined>;

export type LimitResource = 'usage_limit_plan' | 'subject_route' | 'direct_limit' | 'limit_raise';

/** The result of a change. */
export interface LimitChange<Answer> {
  readonly answer: Answer;
  /** The audit entry; absent when nothing changed. */
  readonly done?: {
    readonly resourceType: LimitResource;
    readonly verb: 'create' | 'update' | 'delete' | 'publish' | 'archive' | 'restore';
    readonly resourceId: string;
    readonly change: object;
  };
}

/**
 * Makes one change to the routes, plans or limits of a project together with its audit entry, or not at all. Changes of
 * one project run one after the other, so `work` may rely on what it reads.
 *
 * @param work gets the rows of the project, the time of the change in milliseconds, and the whole transaction
 */
export async function changeLimits<Answer>(
  { postgres, clock, catalog }: Pick<LimitDeps, 'postgres' | 'clock' | 'catalog'>,
  { project, principal, requestId }: ChangeContext,
  work: (own: ProjectTx, atMs: number, tx: Tx) => Promise<LimitChange<Answer>>,
): Promise<Answer> {
  const answer = await transaction(postgres, async (tx) => {
    const own = new ProjectTx(tx, project);
    await advanceRevision(own);
    const atMs = clock.nowMs();
    const { answer, done } = await work(own, atMs, tx);
    if (done !== undefined) {
      await audit(tx, {
        tenantId: project.tenantId,
        projectId: project.projectId,
        principal,
        action: `${done.resourceType}.${done.verb}`,
        resourceType: done.resourceType,
        resourceId: done.resourceId,
        change: done.change,
        requestId,
        atMs,
      });
    }
    return answer;
  });
  catalog.forget(project.projectId);
  return answer;
}
