import type { PoolClient } from 'pg';
import type { SegmentFormatError, SegmentRecord } from './segment.js';

/** A segment that a transaction has taken off the queue. */
export interface ClaimedSegment {
  readonly id: number;
  /** When its oldest request arrived. */
  readonly receivedAtMs: number;
  readonly eventCount: number;
  readonly records: SegmentRecord[];
  /** Why the segment cannot be read. It then has no records, and is set aside when the transaction commits. */
  readonly problem?: SegmentFormatError;
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
  /** It writes, returns nothing, and its parameters begin at `$1`. */
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The durable usage queue. `Tx` is the transaction that a claim lives and dies with. */
export interface SegmentQueue<Tx> {
  /** Durable once it resolves; after a rejection the outcome is unknown. */
  append(records: readonly SegmentRecord[]): Promise<void>;
  /**
   * Appends what clients send, together with a statement: both are one, so that both are committed or neither.
   *
   * @param client a connection with an open transaction, in which to append; without it the append is a commit
   */
  appendWith(companion: Companion, records: readonly SegmentRecord[], client?: PoolClient): Promise<void>;
  /**
   * Takes whole segments that are not deferred, oldest first, until they hold `eventsMax` events or no free one is
   * left; at least one if there is any. They leave the queue when `tx` commits and are
   * back when it rolls back.
   */
  claim(tx: Tx, eventsMax: number): Promise<ClaimedSegment[]>;
  /** Appends within `tx`: what a claim took and its batch has no room for. */
  putBack(tx: Tx, records: readonly SegmentRecord[]): Promise<void>;
  /** Like `putBack`, behind other deferred events of their tenants; other tenants' events do not wait for them. */
  defer(tx: Tx, records: readonly SegmentRecord[]): Promise<void>;
  /** Returns those of the tenants that have deferred requests. */
  deferredAmong(tx: Tx, tenantIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** The tenant that comes next after another's turn, of those that have deferred requests; undefined when none has. */
  nextDeferredTenant(tx: Tx, after: string): Promise<string | undefined>;
  /** Like `claim`, for the deferred requests of one tenant. */
  claimDeferred(tx: Tx, tenantId: string, eventsMax: number): Promise<ClaimedSegment[]>;
  backlog(): Promise<Backlog>;
  /** The tenants that have at least so many events, bytes, or segments with a request of theirs in the queue. */
  tenantsHolding(size: BacklogSize): Promise<string[]>;
}
