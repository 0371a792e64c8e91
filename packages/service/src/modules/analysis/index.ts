export { usedMetrics } from './metrics-store.js';
export { answeredGroupBy, normalizeQuery } from './normalize.js';
export { registerAnalysisRoutes } from './routes.js';
export { analyze } from './service.js';
