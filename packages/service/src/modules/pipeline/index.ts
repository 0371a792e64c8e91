export type {
  BatchCounts,
  BatchStage,
  PipelineObserver,
  ProjectionStage,
  ProjectorObserver,
} from './observer.js';
export { BATCH_STAGES, PROJECTION_STAGES } from './observer.js';
export { createProjector, type Projector, type ProjectorDeps } from './projector.js';
export { createColumnSpool, createFileSpool, type Spool, SpoolCorruptError } from './spool.js';
export {
  createPipelineWorker,
  type PipelineStats,
  type PipelineWorker,
  type PipelineWorkerDeps,
  type PipelineWorkerOptions,
} from './worker.js';
