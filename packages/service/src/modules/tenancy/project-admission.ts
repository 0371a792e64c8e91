import type { Project, ProjectKind } from '@tollgate/contract';
import type { Tx } from '../../platform/postgres/index.js';

/** Says whether a tenant may have one more project, by its subscription plan. */
export interface ProjectAdmission {
  /**
   * Called in the transaction that will create the project. It locks the allowance of this kind of project until the
   * transaction ends: when two ask for the last one, the second is refused.
   *
   * @param count returns how many of this kind the tenant has; called only where there is a limit
   * @returns where the usage of the project will be stored
   * @throws DomainError `entitlement_limit_reached`
   */
  admitProject(
    tx: Tx,
    tenantId: string,
    kind: ProjectKind,
    count: () => Promise<number>,
  ): Promise<Project['storage']>;
}
