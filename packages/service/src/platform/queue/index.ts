export { deferredSegment, newSegment } from './claim.js';
export { FIRST_TURN } from './deferred.js';
export type { SegmentStore } from './outside.js';
export { PostgresSegmentQueue, type SegmentQueueOptions } from './postgres-queue.js';
export { probeQueue, probeSegmentFolder } from './probe.js';
export type { Backlog, BacklogSize, ClaimedSegment, Companion, DeferredTurn, SegmentQueue } from './queue.js';
export {
  EVENT_ID_BYTES,
  recordBytes,
  reprocessRecord,
  type SegmentKind,
  type SegmentRecord,
} from './segment.js';
export { SegmentFiles, type SegmentWriter } from './segment-files.js';
export { SegmentObjects, segmentObjects } from './segment-objects.js';
export { changeShards, chooseShards, readShards, ShardCount } from './shard-count.js';
