import { BATCH_EVENTS_MAX } from '@tollgate/contract';
import { DomainError } from '../../kernel/errors.js';
import { utcMonthAt } from '../../kernel/period.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import {
  type QuotaRefusal,
  recordBytes,
  type SegmentQueue,
  type SegmentRecord,
} from '../../platform/queue/index.js';
import { type EventEntitlement, quotaExceeded } from './event-admission.js';
import { SpentQuotas } from './spent-quotas.js';

/** A segment takes requests up to this size, and always at least one. */
const SEGMENT_BYTES_MAX = 8 * 1_048_576;
/** No larger than the largest request, so that a worker's batch is never dominated by one segment. */
const SEGMENT_EVENTS_MAX = BATCH_EVENTS_MAX;
/** Accepted but not yet durable requests may hold this much memory. */
const PENDING_BYTES_MAX = 64 * 1_048_576;
/**
 * Segments that are written at once: while the row of one is committed, the bytes of the other are written to
 * their file.
 */
const FLUSHES_MAX = 2;
/**
 * What waits is written beside another segment from this size on. Less waits for that: two small commits cost
 * more than one.
 */
const SECOND_FLUSH_BYTES_MIN = 256 * 1_024;

interface Waiter {
  readonly record: SegmentRecord;
  readonly entitlement: EventEntitlement;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: DomainError) => void;
}

export interface GroupCommitOptions {
  readonly queue: Pick<SegmentQueue<never>, 'appendWithinQuota'>;
  readonly pendingBytesMax?: number;
  readonly segmentBytesMax?: number;
}

/**
 * Makes requests durable together. A flush starts as soon as the one before it has ended and takes everything
 * that waits, so a lone request waits for nobody and a crowd shares one commit. Large batches do not wait for
 * all of the flush before.
 */
export class GroupCommit {
  private readonly queue: Pick<SegmentQueue<never>, 'appendWithinQuota'>;
  private readonly pendingBytesMax: number;
  private readonly segmentBytesMax: number;
  private waiting: Waiter[] = [];
  private waitingBytes = 0;
  /** Of everything that is not yet answered: waiting or in flight. */
  private pendingBytes = 0;
  private readonly pendingBytesOfTenants = new Map<string, number>();
  private readonly flushing = new Set<Promise<void>>();
  private isBeginning = false;
  private closed = false;
  private readonly spentQuotas = new SpentQuotas();

  constructor(options: GroupCommitOptions) {
    this.queue = options.queue;
    this.pendingBytesMax = options.pendingBytesMax ?? PENDING_BYTES_MAX;
    this.segmentBytesMax = options.segmentBytesMax ?? SEGMENT_BYTES_MAX;
  }

  /**
   * Resolves once the record is durable, and counted against the quota of its tenant.
   *
   * @param terms of the record's tenant
   * @throws DomainError `event_quota_exceeded`, with nothing counted; `ingest_backlog_full` when too much
   *   waits in all, or of this tenant; `store_unavailable` when the write failed or its outcome is unknown;
   *   `shutting_down` once `close` was called.
   */
  accept(record: SegmentRecord, entitlement: EventEntitlement): Promise<void> {
    if (this.closed) return Promise.reject(new DomainError('shutting_down'));
    const used = this.spentQuotas.usedWithoutRoom(record, entitlement.monthlyEventLimit);
    if (used !== undefined) return Promise.reject(quotaExceeded(record, entitlement, used));
    const bytes = recordBytes(record);
    const { tenantId } = record.scope;
    const ofTenant = this.pendingBytesOfTenants.get(tenantId) ?? 0;
    if (!this.hasRoom(bytes, ofTenant)) {
      return Promise.reject(new DomainError('ingest_backlog_full', { retryAfterS: 1 }));
    }
    this.pendingBytes += bytes;
    this.pendingBytesOfTenants.set(tenantId, ofTenant + bytes);
    this.waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.waiting.push({ record, entitlement, bytes, resolve, reject });
      if (this.mayBegin()) this.beginSoon();
    });
  }

  /** Refuses what comes from now on; resolves when everything accepted before is answered. */
  async close(): Promise<void> {
    this.closed = true;
    this.begin();
    while (this.flushing.size > 0) await Promise.all(this.flushing);
  }

  /** @param ofTenant bytes that the tenant has pending already */
  private hasRoom(bytes: number, ofTenant: number): boolean {
    // Alone, a record is always let in: a bound below the largest body must not refuse it for ever.
    if (this.pendingBytes === 0) return true;
    if (this.pendingBytes + bytes > this.pendingBytesMax) return false;
    return ofTenant < tenantShare(this.pendingBytes, this.pendingBytesMax);
  }

  private release({ record, bytes }: Waiter): void {
    const { tenantId } = record.scope;
    const rest = (this.pendingBytesOfTenants.get(tenantId) ?? 0) - bytes;
    if (rest < 0) throw new Error('more bytes of a tenant were released than were pending');
    if (rest === 0) this.pendingBytesOfTenants.delete(tenantId);
    else this.pendingBytesOfTenants.set(tenantId, rest);
    this.pendingBytes -= bytes;
  }

  /** Requests that arrive in the same turn of the event loop share a segment. */
  private beginSoon(): void {
    if (this.isBeginning) return;
    this.isBeginning = true;
    setImmediate(() => {
      this.isBeginning = false;
      this.begin();
    });
  }

  /** Begins as many flushes as there may be. */
  private begin(): void {
    while (this.waiting.length > 0 && this.mayBegin()) {
      const flush = this.flush(this.takeSegment()).then(() => {
        this.flushing.delete(flush);
        this.begin();
      });
      this.flushing.add(flush);
    }
  }

  /** Otherwise what waits is begun with when a flush ends. */
  private mayBegin(): boolean {
    return this.flushing.size < (this.waitingBytes >= SECOND_FLUSH_BYTES_MIN ? FLUSHES_MAX : 1);
  }

  /** Requests of one month: so what waits can be counted by the month of its segment. */
  private takeSegment(): Waiter[] {
    let bytes = 0;
    let events = 0;
    let taken = 0;
    const { startS, endS } = utcMonthAt((this.waiting[0]?.record.receivedAtMs ?? 0) / 1_000);
    for (const { bytes: size, record } of this.waiting) {
      bytes += size;
      events += record.eventCount;
      if (taken > 0 && (bytes > this.segmentBytesMax || events > SEGMENT_EVENTS_MAX)) break;
      if (record.receivedAtMs < startS * 1_000 || record.receivedAtMs >= endS * 1_000) break;
      taken += 1;
    }
    const rest = this.waiting.slice(taken);
    const segment = taken === this.waiting.length ? this.waiting : this.waiting.slice(0, taken);
    this.waiting = rest;
    this.waitingBytes = rest.reduce((sum, waiter) => sum + waiter.bytes, 0);
    return segment;
  }

  private async flush(segment: readonly Waiter[]): Promise<void> {
    let refusals: readonly QuotaRefusal[];
    try {
      refusals = await this.queue.appendWithinQuota(
        segment.map(({ record, entitlement: { monthlyEventLimit } }) => ({ record, monthlyEventLimit })),
      );
    } catch (cause) {
      // Even a broken COMMIT may have succeeded. Saying "not accepted" is safe: what is sent again under its
      // idempotency key is the same event.
      const error = new DomainError('store_unavailable', { cause });
      for (const waiter of segment) waiter.reject(error);
      return;
    } finally {
      for (const waiter of segment) this.release(waiter);
    }
    for (const { index, used } of refusals) {
      const { record, entitlement, reject } = segment[index] as Waiter;
      this.spentQuotas.remember(record, used);
      reject(quotaExceeded(record, entitlement, used));
    }
    // Of those that were refused already, this changes nothing.
    for (const waiter of segment) waiter.resolve();
  }
}
