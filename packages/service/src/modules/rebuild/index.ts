export { findLost, type LostDeps } from './lost.js';
export { type RebuildDeps, type RebuildOptions, rebuildHistory } from './rebuild.js';
export { unarchivedEvents } from './rebuild-store.js';
export { repairHistory } from './repair.js';
export { registerRebuildRoutes } from './routes.js';
export { replaceViews } from './view-store.js';
