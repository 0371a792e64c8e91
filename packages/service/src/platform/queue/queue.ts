import type { PoolClient } from 'pg';
import type { SegmentFormatError, SegmentRecord } from './segment.js';

/** A segment that a transaction has taken off the queue. */
export interface ClaimedSegment {
  readonly id: number;
  /** The shard with which it was written. */
  readonly shard: number;
  /** When its oldest request arrived. */
  readonly receivedAtMs: number;
  readonly eventCount: number;
  readonly records: SegmentRecord[];
  /** Why the segment cannot be read. It then has no records, and is set aside when the transaction commits. */
  readonly problem?: SegmentFormatError;
}

/** A turn to rate deferred events: those of one tenant in one shard. */
export interface DeferredTurn {
  readonly tenantId: string;
  readonly shard: number;
}

/** A choice of turns. */
export interface TurnChoice {
  /** Default all. */
  readonly shards?: readonly number[] | undefined;
  /** Tenants that have no turn; default none. */
  readonly withoutTenants?: readonly string[];
}

/** An amount of queued data. */
export interface BacklogSize {
  readonly segments: number;
  readonly events: number;
  readonly bytes: number;
}

/** The waiting data of the queue. */
export interface Backlog extends BacklogSize {
  /** The events that are deferred. */
  readonly deferredEvents: number;
  /** Undefined when nothing waits. */
  readonly oldestReceivedAtMs: number | undefined;
}

/** A statement that is executed with an append. */
export interface Companion {
  /** The name under which PostgreSQL keeps the whole statement prepared. */
  readonly name: string;
  /** A statement that writes and returns nothing; its parameters begin at `$1`. */
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The durable usage queue. `Tx` is the transaction that a claim commits or rolls back with. */
export interface SegmentQueue<Tx> {
  /** Durable once it resolves; after a rejection the result is unknown. */
  append(records: readonly SegmentRecord[]): Promise<void>;
  /**
   * Appends requests of clients together with a statement: both are committed or neither is.
   *
   * @param client a connection with an open transaction in which to append; without it the append commits by itself
   */
  appendWith(companion: Companion, records: readonly SegmentRecord[], client?: PoolClient): Promise<void>;
  /**
   * Claims whole segments that are not deferred, until they contain `eventsMax` events or no free segment is left; at
   * least one segment if there is any. They leave the queue when `tx` commits and are back when it rolls back.
   *
   * The segments are of one shard, oldest first. The claim prefers the shard that has waited longest among those from
   * which no other transaction claims. Shards with few events are claimed together, up to half of `eventsMax`.
   *
   * @param shards from which it may claim (see `storedShardsOf`); default all
   */
  claim(tx: Tx, eventsMax: number, shards?: readonly number[]): Promise<ClaimedSegment[]>;
  /** Appends, within `tx`, claimed requests that the batch has no room for. */
  putBack(tx: Tx, records: readonly SegmentRecord[]): Promise<void>;
  /** As `putBack`, behind other deferred events of the same tenants; other tenants' events do not wait for them. */
  defer(tx: Tx, records: readonly SegmentRecord[]): Promise<void>;
  /** Returns those of the tenants that have deferred requests. */
  deferredAmong(tx: Tx, tenantIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Returns the turn after another one, in a circle; undefined if there is none.
   *
   * @param among the turns that are returned; default all
   */
  nextDeferred(tx: Tx, after: DeferredTurn, among?: TurnChoice): Promise<DeferredTurn | undefined>;
  /** Like `claim`, for the deferred requests of one turn, oldest first. */
  claimDeferred(tx: Tx, turn: DeferredTurn, eventsMax: number): Promise<ClaimedSegment[]>;
  backlog(): Promise<Backlog>;
  /** Returns the tenants that have at least this many events, bytes, or segments in the queue. */
  tenantsHolding(size: BacklogSize): Promise<string[]>;
}
