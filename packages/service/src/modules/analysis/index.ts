export { usedMetrics } from './metrics-store.js';
export { registerAnalysisRoutes } from './routes.js';
export { analyze } from './service.js';
