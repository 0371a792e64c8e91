import type { Tx } from '../../../platform/postgres/index.js';

/**
 * Says how many routes and limits a tenant may have, by its subscription plan. A call locks the allowance of the tenant
 * until the transaction ends: when two ask for the last one, the second is refused.
 */
export interface LimitAdmission {
  /**
   * @param count returns how many the tenant has; called only where there is a limit
   * @throws DomainError `entitlement_limit_reached`
   */
  admitSubjectRoutes(tx: Tx, tenantId: string, added: number, count: () => Promise<number>): Promise<void>;
  /** As `admitSubjectRoutes`, for direct limits and plan rules. */
  admitUsageControls(tx: Tx, tenantId: string, added: number, count: () => Promise<number>): Promise<void>;
  /** @throws DomainError `entitlement_limit_reached` */
  admitBudgetLease(tenantId: string): Promise<void>;
}
