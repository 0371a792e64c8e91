import type { UsageHistory } from '../modules/storage/index.js';

/** Everything is kept. */
export const everythingKept: UsageHistory = {
  scopeOf: (project) => ({ ...project, retainedFrom: 0, rawOnly: [] }),
};
