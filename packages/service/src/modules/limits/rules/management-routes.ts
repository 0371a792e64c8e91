import type { App } from '../../../platform/http/index.js';
import { registerProjectSettingsRoutes } from '../settings/routes.js';
import { registerDirectLimitRoutes } from './direct/routes.js';
import type { LimitManagement } from './management.js';
import { registerPlanRoutes } from './plans/routes.js';
import { registerRaiseRoutes } from './raises/routes.js';
import { registerSubjectRouteRoutes } from './subject-routes/routes.js';

/** Registers the routes of usage limit plans, subject routes, direct limits, raises, and settings. */
export function registerLimitManagementRoutes(app: App, management: LimitManagement): void {
  registerPlanRoutes(app, management.plans);
  registerSubjectRouteRoutes(app, management);
  registerDirectLimitRoutes(app, management.directLimits);
  registerRaiseRoutes(app, management.raises, management.clock);
  registerProjectSettingsRoutes(app, management.settings);
}
