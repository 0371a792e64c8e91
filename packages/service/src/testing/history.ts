import type { HistoryScope, UsageHistory } from '../modules/storage/index.js';

/** A history in which everything is kept. */
export const everythingKept: UsageHistory = {
  scopeOf: (project) => ({ ...project, retainedFrom: 0, excludedDimensions: [] }),
  forget: () => {},
};

/** The project of test rows; it keeps everything. */
export const TEST_SCOPE: HistoryScope = {
  tenantId: 'ten_1',
  projectId: 'prj_1',
  projectNo: 1,
  storage: 'shared',
  retainedFrom: 0,
  excludedDimensions: [],
};
