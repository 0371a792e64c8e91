import type { Tx } from '../../../platform/postgres/index.js';

/**
 * Says how many routes and limits a tenant may have, by whatever it was sold. What is asked in a transaction
 * keeps others of the tenant who ask the same waiting until it ends: of two who ask for the last, one is
 * refused.
 */
export interface LimitAdmission {
  /**
   * @param count how many the tenant has; asked only where there is a limit
   * @throws DomainError `entitlement_limit_reached`
   */
  admitSubjectRoutes(tx: Tx, tenantId: string, added: number, count: () => Promise<number>): Promise<void>;
  /** As `admitSubjectRoutes`, of direct limits and plan rules. */
  admitUsageControls(tx: Tx, tenantId: string, added: number, count: () => Promise<number>): Promise<void>;
  /** @throws DomainError `entitlement_limit_reached` */
  admitBudgetLease(tenantId: string): Promise<void>;
}
