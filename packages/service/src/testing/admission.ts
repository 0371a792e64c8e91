import type { LimitAdmission } from '../modules/limits/index.js';
import type { ProjectAdmission } from '../modules/tenancy/index.js';

/** Admission of tenants that may have everything. */
export const everythingAdmitted: ProjectAdmission & LimitAdmission = {
  admitProject: async () => 'shared',
  admitSubjectRoutes: async () => {},
  admitUsageControls: async () => {},
  admitBudgetLease: async () => {},
};
