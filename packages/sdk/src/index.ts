export type {
  AnalysisQuery,
  AnalysisResult,
  AnalysisRow,
  BatchIngest,
  BatchIngestAccepted,
  BatchIngestItem,
  ErrorCode,
  ErrorDetail,
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  IngestAccepted,
  IngestEvent,
  IngestStatus,
  Me,
  MetricsResponse,
  Project,
  UsageEvent,
  UsageEventDetail,
  UsageEventList,
  UsageEventsQuery,
} from '@tollgate/contract';
export { BatchingIngestClient, type BatchingOptions, type BufferedEvent, type NewEvent } from './batching.js';
export { type PageOptions, type ProjectPage, TollgateClient } from './client.js';
export { systemTiming, type Timing } from './clock.js';
export { ApiError, ConnectionError } from './errors.js';
export type { ProjectClient } from './project-client.js';
export type { ClientOptions } from './transport.js';
