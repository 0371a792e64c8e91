export { KnownNames } from './known-names.js';
export { usedNames } from './known-names-store.js';
export { usedMetrics } from './metrics-store.js';
export { answeredGroupBy, answeredSplitBy, normalizeQuery } from './normalize.js';
export { registerAnalysisRoutes } from './routes.js';
export { analyze } from './service.js';
export type { SavedQueries, SavedQuery } from './stream/followed-queries.js';
export { LiveStreams } from './stream/live-streams.js';
export { registerStreamRoutes } from './stream/routes.js';
