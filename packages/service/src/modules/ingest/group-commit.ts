import { BATCH_EVENTS_MAX } from '@tollgate/contract';
import { DomainError } from '../../kernel/errors.js';
import { KeyCounts } from '../../kernel/key-counts.js';
import { utcMonthAt } from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import { isTenantMoving } from '../../platform/postgres/index.js';
import { recordBytes, type SegmentRecord } from '../../platform/queue/index.js';
import {
  type EventEntitlement,
  type EventQuotas,
  type QuotaRefusal,
  quotaExceeded,
  SpentQuotas,
} from '../quotas/index.js';

/** Upper bound of a segment's size; a segment always takes at least one request. */
const SEGMENT_BYTES_MAX = 8 * 1_048_576;
/** As many as the largest request has, so that one segment never dominates a worker's batch. */
const SEGMENT_EVENTS_MAX = BATCH_EVENTS_MAX;
/** Upper bound of the memory of accepted requests that are not durable yet. */
export const PENDING_BYTES_MAX = 64 * 1_048_576;
/**
 * Segments that are written at the same time: while the row of one is committed, the bytes of the other are written to
 * their file.
 */
const FLUSHES_MAX = 2;
/**
 * From this size on, waiting requests are written in parallel to another segment. Fewer bytes wait for it, because two
 * small commits cost more than one.
 */
const SECOND_FLUSH_BYTES_MIN = 256 * 1_024;

interface Waiter {
  readonly record: SegmentRecord;
  readonly entitlement: EventEntitlement;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: DomainError) => void;
}

/** The tenants that move to another cell, as they were last read. */
export interface MovingTenants {
  /** Returns the error for a request of the tenant, if the tenant is moving: `tenant_moving`. */
  refusalOf(tenantId: string): DomainError | undefined;
  /** Reads them again. */
  refresh(): Promise<void>;
}

export interface GroupCommitOptions {
  readonly quotas: Pick<EventQuotas, 'appendWithinQuota'>;
  readonly moving?: MovingTenants | undefined;
  readonly pendingBytesMax?: number;
  readonly segmentBytesMax?: number;
}

/**
 * Makes requests durable together. A flush starts as soon as the previous one ends and takes everything that waits, so
 * a single request does not wait, and many share one commit. Large batches may start before the previous flush has
 * ended.
 */
export class GroupCommit {
  readonly #quotas: GroupCommitOptions['quotas'];
  readonly #moving: MovingTenants | undefined;
  readonly #pendingBytesMax: number;
  readonly #segmentBytesMax: number;
  #waiting: Waiter[] = [];
  #waitingBytes = 0;
  /** Bytes of all requests without a response, waiting or being written. */
  #pendingBytes = 0;
  readonly #pendingBytesOfTenants = new KeyCounts();
  readonly #flushing = new Set<Promise<void>>();
  #isBeginning = false;
  #closed = false;
  readonly #spentQuotas = new SpentQuotas();

  constructor(options: GroupCommitOptions) {
    this.#quotas = options.quotas;
    this.#moving = options.moving;
    this.#pendingBytesMax = options.pendingBytesMax ?? PENDING_BYTES_MAX;
    this.#segmentBytesMax = options.segmentBytesMax ?? SEGMENT_BYTES_MAX;
  }

  /**
   * Resolves once the record is durable and counted against its tenant's quota.
   *
   * @param entitlement of the record's tenant
   * @throws DomainError `event_quota_exceeded`, with nothing counted; `ingest_backlog_full` when too much waits, in all
   * or of this tenant; `tenant_moving`; `store_unavailable` when the write failed or its result is unknown;
   * `shutting_down` after `close` was called.
   */
  accept(record: SegmentRecord, entitlement: EventEntitlement): Promise<void> {
    if (this.#closed) return Promise.reject(new DomainError('shutting_down'));
    const used = this.#spentQuotas.usedWithoutRoom(record, entitlement.monthlyEventLimit);
    if (used !== undefined) return Promise.reject(quotaExceeded(record, entitlement, used));
    const bytes = recordBytes(record);
    const { tenantId } = record.scope;
    const ofTenant = this.#pendingBytesOfTenants.of(tenantId);
    if (!this.#hasRoom(bytes, ofTenant)) {
      return Promise.reject(new DomainError('ingest_backlog_full', { retryAfterS: 1 }));
    }
    this.#pendingBytes += bytes;
    this.#pendingBytesOfTenants.add(tenantId, bytes);
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, entitlement, bytes, resolve, reject });
      if (this.#mayBegin()) this.#beginSoon();
    });
  }

  /** Refuses new requests; resolves when all earlier ones have their result. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#begin();
    while (this.#flushing.size > 0) await Promise.all(this.#flushing);
  }

  /** @param ofTenant bytes that the tenant has pending already */
  #hasRoom(bytes: number, ofTenant: number): boolean {
    // A single record is always accepted: otherwise a bound below the largest body would refuse it for ever.
    if (this.#pendingBytes === 0) return true;
    if (this.#pendingBytes + bytes > this.#pendingBytesMax) return false;
    return ofTenant < tenantShare(this.#pendingBytes, this.#pendingBytesMax);
  }

  #release({ record, bytes }: Waiter): void {
    const { tenantId } = record.scope;
    if (this.#pendingBytesOfTenants.of(tenantId) < bytes)
      throw new Error('more bytes of a tenant were released than were pending');
    this.#pendingBytesOfTenants.add(tenantId, -bytes);
    this.#pendingBytes -= bytes;
  }

  /** Starts flushing in the next turn, so that requests of the same turn of the event loop share a segment. */
  #beginSoon(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    setImmediate(() => {
      this.#isBeginning = false;
      this.#begin();
    });
  }

  /** Starts as many flushes as are allowed. */
  #begin(): void {
    while (this.#waiting.length > 0 && this.#mayBegin()) {
      const flush = this.#flush(this.#takeSegment()).then(() => {
        this.#flushing.delete(flush);
        this.#begin();
      });
      this.#flushing.add(flush);
    }
  }

  /** Whether another flush may start now. Otherwise the next flush starts when the current one ends. */
  #mayBegin(): boolean {
    return this.#flushing.size < (this.#waitingBytes >= SECOND_FLUSH_BYTES_MIN ? FLUSHES_MAX : 1);
  }

  /** Takes waiting requests of one month, so that the queue can be counted by the month of its segments. */
  #takeSegment(): Waiter[] {
    let bytes = 0;
    let events = 0;
    let taken = 0;
    const { startS, endS } = utcMonthAt((this.#waiting[0]?.record.receivedAtMs ?? 0) / 1_000);
    for (const { bytes: size, record } of this.#waiting) {
      bytes += size;
      events += record.eventCount;
      if (taken > 0 && (bytes > this.#segmentBytesMax || events > SEGMENT_EVENTS_MAX)) break;
      if (record.receivedAtMs < startS * 1_000 || record.receivedAtMs >= endS * 1_000) break;
      taken += 1;
    }
    const rest = this.#waiting.slice(taken);
    const segment = taken === this.#waiting.length ? this.#waiting : this.#waiting.slice(0, taken);
    this.#waiting = rest;
    this.#waitingBytes = rest.reduce((sum, waiter) => sum + waiter.bytes, 0);
    return segment;
  }

  async #flush(segment: readonly Waiter[]): Promise<void> {
    let refusals: readonly QuotaRefusal[];
    try {
      refusals = await this.#quotas.appendWithinQuota(
        segment.map(({ record, entitlement: { monthlyEventLimit } }) => ({ record, monthlyEventLimit })),
      );
    } catch (cause) {
      const rest = await this.#refuseMoving(segment, cause);
      if (rest.length < segment.length) {
        if (rest.length > 0) await this.#flush(rest);
        return;
      }
      // Even a COMMIT that failed may have succeeded. "Not accepted" is safe: an event that is sent again with its
      // idempotency key is the same event.
      const error = new DomainError('store_unavailable', { cause });
      for (const waiter of segment) this.#refuse(waiter, error);
      return;
    }
    for (const waiter of segment) this.#release(waiter);
    for (const { index, used } of refusals) {
      const { record, entitlement, reject } = present(segment[index], 'a refused request');
      this.#spentQuotas.remember(record, used);
      reject(quotaExceeded(record, entitlement, used));
    }
    // Does nothing for requests that were refused before.
    for (const waiter of segment) waiter.resolve();
  }

  /**
   * Refuses the requests of moving tenants, if an append failed because of one. PostgreSQL refuses the append as a
   * whole and does not say whose requests are the reason, so the tenants that are moving are read.
   *
   * @returns the other requests of the segment, which can be appended without them
   */
  async #refuseMoving(segment: readonly Waiter[], cause: unknown): Promise<readonly Waiter[]> {
    const moving = this.#moving;
    if (moving === undefined || !isTenantMoving(cause)) return segment;
    try {
      await moving.refresh();
    } catch {
      return segment;
    }
    return segment.filter((waiter) => {
      const refusal = moving.refusalOf(waiter.record.scope.tenantId);
      if (refusal !== undefined) this.#refuse(waiter, refusal);
      return refusal === undefined;
    });
  }

  #refuse(waiter: Waiter, error: DomainError): void {
    this.#release(waiter);
    waiter.reject(error);
  }
}
