export type { LimitCatalog } from './book/catalog.js';
export { createApiCatalog, createWorkerCatalog, LIMITS_FRESH_MS } from './book/index.js';
export { createLimitManagement, type LimitManagement } from './management.js';
export { registerLimitManagementRoutes } from './management-routes.js';
export * from './posting/index.js';
