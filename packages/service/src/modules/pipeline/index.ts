export {
  type EventReprocessRequest,
  type FailedEvent,
  insertFailedEvents,
  takeFailedEvents,
} from './batch-store.js';
export {
  type CorrectedEvent,
  type CorrectedRowsDeps,
  writeCorrectedRows,
} from './corrected-rows.js';
export { mayWriteCorrections } from './defer.js';
export { EventBody } from './event.js';
export { createEventIdCompactionJob } from './event-id-compaction.js';
export { HistoryMismatchError, recordGroup } from './history-check.js';
export type { BatchStage, PipelineObserver, ProjectorObserver, SegmentNews } from './observer.js';
export { measureProjection } from './projection-metrics.js';
export { createProjector, type OwnedShards, type Projector, type ProjectorDeps } from './projector.js';
export { checkStoresMatch, checkViews, GROUP_LOCK, PROJECTOR_LOCK } from './projector-store.js';
export { BatchRules, NOT_PUBLISHED, type RuleVersionSource } from './rating.js';
export { createRollupDimensions } from './rollup-dimensions.js';
export {
  createColumnSpool,
  createFileSpool,
  createObjectSpool,
  type Spool,
  SpoolCorruptError,
  spooledObjects,
} from './spool.js';
export { tablesOfRows } from './turns.js';
export {
  createPipelineWorker,
  type PipelineStats,
  type PipelineWorker,
  type PipelineWorkerOptions,
} from './worker.js';
