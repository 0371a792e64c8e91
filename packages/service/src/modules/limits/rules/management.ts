import type { Clock } from '../../../kernel/clock.js';
import { ProjectSettingsService } from '../settings/service.js';
import type { LimitDeps, OtherSubjectTypes } from './change.js';
import { DirectLimitService } from './direct/service.js';
import { PlanService } from './plans/service.js';
import { RaiseService } from './raises/service.js';
import { SubjectRouteService } from './subject-routes/service.js';

/** The management of limits: plans, subject routes, direct limits, raises, and settings. */
export interface LimitManagement {
  readonly otherSubjectTypes: OtherSubjectTypes;
  readonly plans: PlanService;
  readonly subjectRoutes: SubjectRouteService;
  readonly directLimits: DirectLimitService;
  readonly raises: RaiseService;
  readonly settings: ProjectSettingsService;
  readonly clock: Clock;
}

export function createLimitManagement(
  deps: LimitDeps & { readonly otherSubjectTypes: OtherSubjectTypes },
): LimitManagement {
  return {
    otherSubjectTypes: deps.otherSubjectTypes,
    plans: new PlanService(deps),
    subjectRoutes: new SubjectRouteService(deps),
    directLimits: new DirectLimitService(deps),
    raises: new RaiseService(deps),
    settings: new ProjectSettingsService(deps),
    clock: deps.clock,
  };
}
