export { deferredSegment, newSegment } from './claim.js';
export { PostgresSegmentQueue } from './postgres-queue.js';
export { probeQueue, probeSegmentFolder } from './probe.js';
export type { Backlog, BacklogSize, ClaimedSegment, Companion, SegmentQueue } from './queue.js';
export {
  EVENT_ID_BYTES,
  recordBytes,
  reprocessRecord,
  type SegmentKind,
  type SegmentRecord,
} from './segment.js';
export { SegmentFiles } from './segment-files.js';
