export { usedMetrics } from './metrics-store.js';
export type { AnalysisScope } from './query-sql.js';
export { type AnalysisDeps, registerAnalysisRoutes } from './routes.js';
export { analyze } from './service.js';
