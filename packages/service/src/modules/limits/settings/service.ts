import type { ProjectSettings, UnknownSubjects, UpdateProjectSettingsBody } from '@tollgate/contract';
import type { ChangeContext } from '../../../kernel/change-context.js';
import type { ProjectScope } from '../../../kernel/scope.js';
import { ProjectDb, ProjectTx, transaction } from '../../../platform/postgres/index.js';
import { audit } from '../../tenancy/index.js';
import type { LimitDeps } from '../rules/change.js';
import { findUnknownSubjects, putUnknownSubjects } from './store.js';

const UNKNOWN_SUBJECTS_DEFAULT: UnknownSubjects = 'allow';

/** The settings of projects. */
export class ProjectSettingsService {
  readonly #deps: Pick<LimitDeps, 'postgres' | 'clock'>;

  constructor(deps: Pick<LimitDeps, 'postgres' | 'clock'>) {
    this.#deps = deps;
  }

  async read(owner: ProjectScope): Promise<ProjectSettings> {
    const stored = await findUnknownSubjects(new ProjectDb(this.#deps.postgres.db, owner));
    return { unknown_subjects: stored ?? UNKNOWN_SUBJECTS_DEFAULT };
  }

  /** Changes the fields that are sent, together with the audit entry. */
  update(
    { project, principal, requestId }: ChangeContext,
    body: UpdateProjectSettingsBody,
  ): Promise<ProjectSettings> {
    const { postgres, clock } = this.#deps;
    return transaction(postgres, async (tx) => {
      const own = new ProjectTx(tx, project);
      const { unknown_subjects: asked } = body;
      if (asked !== undefined) {
        await putUnknownSubjects(own, asked);
        const { tenantId, projectId } = project;
        await audit(tx, {
          ...{ tenantId, projectId, principal, requestId, atMs: clock.nowMs() },
          ...{ action: 'project_settings.update', resourceType: 'project_settings', resourceId: projectId },
          change: body,
        });
      }
      return { unknown_subjects: (await findUnknownSubjects(own)) ?? UNKNOWN_SUBJECTS_DEFAULT };
    });
  }
}
