import type { PipelineStats, SegmentNews } from '../modules/pipeline/index.js';
import type { LogLevel } from '../platform/log/index.js';
import type { ObjectStoreLocation } from '../platform/object-store/index.js';
import type { PostgresConfig } from '../platform/postgres/index.js';
import type { EndedWork } from '../platform/tracing/index.js';
import type { LocalFolders } from './data-dir.js';

/** The data that a rating thread needs to start. */
export interface WorkerThreadData {
  readonly postgresConnection: PostgresConfig['connection'];
  readonly connectionsMax: number;
  readonly folders: LocalFolders | undefined;
  readonly objectStore: ObjectStoreLocation | undefined;
  readonly logLevel: LogLevel;
  /** The application names of this process's connections end with it; see `ProcessLeases`. */
  readonly owner: string;
  /** Whether the thread reports its batches for traces. */
  readonly isTraced: boolean;
}

/** Messages from the service to a rating thread. */
export type ToWorker =
  | { readonly kind: 'segments'; readonly news: SegmentNews }
  /** The shards whose segments this process rates now. */
  | { readonly kind: 'shards'; readonly shards: readonly number[] }
  | { readonly kind: 'stop' };

/** Messages from a rating thread to the service. */
export type FromWorker =
  | { readonly kind: 'batch-committed' }
  | { readonly kind: 'full-claim' }
  /** A batch was committed or has failed. */
  | { readonly kind: 'batch-ended'; readonly work: EndedWork }
  | { readonly kind: 'stats'; readonly stats: PipelineStats; readonly stageSeconds: Record<string, number> };
