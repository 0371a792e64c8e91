export { differingDays } from './differing-days.js';
export { registerVerifyRoutes } from './routes.js';
export { verifyUsage } from './service.js';
export type { ProjectDays } from './totals-store.js';
