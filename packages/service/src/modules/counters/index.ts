export { BatchCounters, type EventToCount } from './batch-counters.js';
export { registerCounterRoutes } from './routes.js';
