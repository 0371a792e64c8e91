import type { LimitDeps } from './change.js';
import { DirectLimitService } from './direct/service.js';
import { PlanService } from './plans/service.js';
import { SubjectRouteService } from './subject-routes/service.js';

/** What is said about limits, beside what counts and holds usage against them. */
export interface LimitManagement {
  readonly plans: PlanService;
  readonly subjectRoutes: SubjectRouteService;
  readonly directLimits: DirectLimitService;
}

export function createLimitManagement(deps: LimitDeps): LimitManagement {
  return {
    plans: new PlanService(deps),
    subjectRoutes: new SubjectRouteService(deps),
    directLimits: new DirectLimitService(deps),
  };
}
