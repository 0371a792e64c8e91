export type { LimitCatalog } from './book/catalog.js';
export { createApiCatalog, createWorkerCatalog, LIMITS_FRESH_MS } from './book/index.js';
export { createLeaseExpiryJob, type LeaseExpiryJob } from './lease-expiry.js';
export { createLimitManagement, type LimitManagement } from './management.js';
export { registerLimitManagementRoutes } from './management-routes.js';
export * from './posting/index.js';
export { createRealtimeLimits, type RealtimeLimitParts, registerRealtimeLimitRoutes } from './realtime.js';
export { recountReservations } from './recount-store.js';
