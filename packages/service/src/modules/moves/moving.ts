import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import type { BlockArchive } from '../archive/index.js';
import type { StorageScope } from '../storage/index.js';
import type { HistoryDigest, HistoryUnit } from './history-copy-store.js';
import type { BucketDigest, RowChunk, RowRange } from './row-copy-store.js';
import type { MoveState, TenantMove, Unfinished } from './state-store.js';
import type { TableName } from './tables.js';

/** A project that moves, and the storage of its history. */
export interface MovingProject {
  readonly id: string;
  readonly no: number;
  readonly storage: StorageScope['storage'];
}

/** The state of a moving tenant in the source at one moment. */
export interface SourceStatus {
  readonly state: MoveState;
  /** A text that is equal in two cells if their tables have the same columns. */
  readonly fingerprint: string;
  readonly projects: readonly MovingProject[];
  /** See `readHighWater`. */
  readonly highWater: string;
  /** All events that were rated before this time are in ClickHouse; Unix milliseconds. */
  readonly settledBeforeMs: number;
  readonly unfinished: Unfinished;
}

/** The source, from which the target reads directly or over HTTP. */
export interface MoveSource {
  status(tenantId: string, moveId: string): Promise<SourceStatus>;
  rows(tenantId: string, moveId: string, range: RowRange): Promise<RowChunk>;
  digest(tenantId: string, moveId: string, table: TableName): Promise<BucketDigest[]>;
  nextUnit(
    tenantId: string,
    moveId: string,
    projectId: string,
    span: { readonly afterMs: number; readonly beforeMs: number },
  ): Promise<HistoryUnit | undefined>;
  unit(tenantId: string, moveId: string, projectId: string, unit: HistoryUnit): Promise<Buffer>;
  historyDigest(tenantId: string, moveId: string, projectId: string): Promise<HistoryDigest>;
}

export interface MoveDeps {
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouse;
  /** Undefined if there is no place for an archive. */
  readonly archive: BlockArchive | undefined;
  readonly clock: Clock;
}

/** @throws DomainError `move_refused` */
export function refuseStep(message: string): never {
  throw new DomainError('move_refused', { message });
}

/** Returns a sentence about the move that a tenant has instead of the expected one. */
export function describeMove(move: TenantMove | undefined): string {
  return move === undefined
    ? 'The tenant is not moving here.'
    : `The move ${move.moveId} of the tenant is "${move.state}" here.`;
}

export function scopeOf(tenantId: string, { id, no, storage }: MovingProject): StorageScope {
  return { tenantId, projectId: id, projectNo: no, storage };
}
