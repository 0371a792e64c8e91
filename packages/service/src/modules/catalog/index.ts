export { TenantAdmission } from './admission.js';
export { applyCatalog } from './apply.js';
export {
  BASELINE_PLANS,
  type Baseline,
  type BaselinePlan,
  type EntitlementLimits,
  type TenantEntitlement,
} from './entitlement.js';
export { createEntitlements, type Entitlements } from './entitlements.js';
export { effectiveEnd, type PlanGrant } from './grant.js';
export { findGrantOfSource } from './grant-store.js';
export { endGrantOfSource, type GrantInput, grantPlan } from './grants.js';
export { newestPlan } from './plan-store.js';
export { registerCatalogRoutes } from './routes.js';
