export { TenantAdmission } from './admission.js';
export { applyCatalog } from './apply.js';
export { createEntitlements, type Entitlements } from './entitlements.js';
export {
  BASELINE_PLANS,
  type Baseline,
  type BaselinePlan,
  type EntitlementLimits,
  effectiveEnd,
  type PlanGrant,
  type TenantEntitlement,
} from './grant.js';
export { findGrantOfSource } from './grant-store.js';
export { endGrantOfSource, type GrantInput, grantPlan } from './grants.js';
export { newestPlan } from './plan-store.js';
export { registerCatalogRoutes } from './routes.js';
