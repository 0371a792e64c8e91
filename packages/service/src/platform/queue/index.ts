export { APPEND_TIMEOUT_MS, CLAIM_BYTES_MAX, PostgresSegmentQueue } from './postgres-queue.js';
export type { Backlog, ClaimedSegment, SegmentQueue } from './queue.js';
export {
  decodeSegment,
  EVENT_ID_BYTES,
  encodeSegment,
  recordBytes,
  SegmentFormatError,
  type SegmentKind,
  type SegmentRecord,
  type SegmentScope,
} from './segment.js';
