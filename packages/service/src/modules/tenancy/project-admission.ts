import type { Project, ProjectKind } from '@tollgate/contract';
import type { Tx } from '../../platform/postgres/index.js';

/** Says whether a tenant may have one more project, by whatever it was sold. */
export interface ProjectAdmission {
  /**
   * Asked in the transaction that is about to make the project. Until it ends, nobody else of the tenant is
   * admitted for one of this kind: of two who ask for the last, one is refused.
   *
   * @param count how many of this kind the tenant has; asked only where there is a limit
   * @returns where the usage of the project is to be kept
   * @throws DomainError `entitlement_limit_reached`
   */
  admitProject(
    tx: Tx,
    tenantId: string,
    kind: ProjectKind,
    count: () => Promise<number>,
  ): Promise<Project['storage']>;
}
