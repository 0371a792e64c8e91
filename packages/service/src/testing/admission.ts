import type { LimitAdmission } from '../modules/limits/index.js';
import type { ProjectAdmission } from '../modules/tenancy/index.js';

/** Admits everything for every tenant. */
export const everythingAdmitted: ProjectAdmission & LimitAdmission = {
  admitProject: async () => 'shared',
  admitSubjectRoutes: async () => {},
  admitUsageControls: async () => {},
  admitBudgetLease: async () => {},
};
