export { createEventIdCompactionJob } from './event-id-compaction.js';
export { HistoryMismatchError, recordGroup } from './history-check.js';
export type { BatchStage, PipelineObserver, ProjectorObserver, SegmentNews } from './observer.js';
export { measureProjection } from './projection-metrics.js';
export { createProjector, type OwnedShards, type ProjectorDeps } from './projector.js';
export { checkStoresMatch, PROJECTOR_LOCK } from './projector-store.js';
export type { RuleVersionSource } from './rating.js';
export {
  createColumnSpool,
  createFileSpool,
  createObjectSpool,
  type Spool,
  spooledObjects,
} from './spool.js';
export { tablesOfRows } from './turns.js';
export {
  createPipelineWorker,
  type PipelineStats,
  type PipelineWorker,
  type PipelineWorkerOptions,
} from './worker.js';
