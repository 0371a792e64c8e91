import type { Clock } from '../../kernel/clock.js';
import type { Logger } from '../../platform/log/index.js';
import type { Metrics } from '../../platform/metrics/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { repeat } from '../../platform/wakeup.js';
import { expire } from './expiry.js';
import type { HistoryStore } from './expiry-store.js';
import { boundaryOf, type TenantRetention } from './record-retention.js';
import { RetentionObserver } from './retention-observer.js';
import * as store from './retention-store.js';

/** For how long tenants' history is to be kept. */
export interface RetentionPolicy {
  /** Whole days before today; -1: for good. What is kept and not shown is hidden until it is shown again or deleted. */
  retentionOf(tenantId: string): Promise<TenantRetention>;
}

export interface RetentionJobDeps {
  readonly postgres: Postgres;
  readonly clickhouse: HistoryStore;
  readonly policy: RetentionPolicy;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: Metrics;
}

/** Deletes history that is not to be kept any longer. Any number may run on one database: one of them does it. */
export interface RetentionJob {
  /** Works until `signal` aborts, then ends after the step in hand; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks through all history if that is due; answers whether it was. Rejects when a store does. */
  sweep(signal?: AbortSignal): Promise<boolean>;
}

/** How often all history is looked through. */
export const SWEEP_INTERVAL_MS = 60 * 60_000;
/** One that was broken off, or whose process has died, is done again after so long. */
export const SWEEP_RETRY_MS = 10 * 60_000;
/** What was recorded so long ago, everybody who reads history knows, and no query that began before still runs. */
export const SETTLED_MS = 5 * 60_000;
const POLL_MS = 60_000;
const TENANTS_PER_STEP = 500;
const FAILED_EVENTS_PER_STEP = 1_000;

export function createRetentionJob(deps: RetentionJobDeps): RetentionJob {
  return new Job(deps);
}

class Job implements RetentionJob {
  readonly #observer: RetentionObserver;

  constructor(private readonly deps: RetentionJobDeps) {
    this.#observer = new RetentionObserver(deps.metrics, deps.clock);
  }

  run(signal: AbortSignal): Promise<void> {
    return repeat(() => this.sweep(signal), signal, {
      pollMs: POLL_MS,
      onFailure: (err) => {
        // Told to end, it was broken off; the next process does it again.
        if (signal.aborted) return;
        this.#observer.failures.inc();
        this.deps.log.warn({ err }, 'expired history could not be deleted and will be tried again');
      },
      failurePauseMs: () => POLL_MS,
    });
  }

  async sweep(signal?: AbortSignal): Promise<boolean> {
    const { clock, log } = this.deps;
    const { db } = this.deps.postgres;
    const nowMs = clock.nowMs();
    this.#observer.sweptAtMs = await store.lastSweptAtMs(db);
    if (!(await store.claimSweep(db, nowMs, nowMs + SWEEP_RETRY_MS))) return false;
    // What is recorded now is deleted by a later sweep.
    const settled = await store.settledBoundaries(db, nowMs - SETTLED_MS);
    await this.#recordBoundaries(nowMs, signal);
    const failedEvents = await this.#deleteFailedEvents(signal);
    const expired = await expire(this.#clickhouse(signal), settled, signal);
    this.#observer.count(failedEvents, expired);
    for (const { table, problem } of expired.stuck) {
      log.warn(
        { table, problem },
        'a deletion of expired history does not succeed; ClickHouse tries it again',
      );
    }
    if (signal?.aborted === true) return true;
    await store.finishSweep(db, clock.nowMs(), clock.nowMs() + SWEEP_INTERVAL_MS);
    this.#observer.sweptAtMs = clock.nowMs();
    const { partitionsDropped, deletions } = expired;
    if (failedEvents + partitionsDropped + deletions > 0) {
      log.info({ failedEvents, partitionsDropped, deletions }, 'expired history deleted');
    }
    return true;
  }

  /** Whose queries are not waited for once `signal` aborts. */
  #clickhouse(signal: AbortSignal | undefined): HistoryStore {
    const { clickhouse } = this.deps;
    if (signal === undefined) return clickhouse;
    return {
      query: (sql, params) => clickhouse.query(sql, params, { signal }),
      command: (sql, params) => clickhouse.command(sql, params),
    };
  }

  async #recordBoundaries(nowMs: number, signal?: AbortSignal): Promise<void> {
    const { postgres, policy } = this.deps;
    let after = '';
    while (signal?.aborted !== true) {
      const tenantIds = await store.tenantsAfter(postgres.db, after, TENANTS_PER_STEP);
      const boundaries: store.TenantBoundary[] = [];
      for (const tenantId of tenantIds) {
        boundaries.push(boundaryOf(tenantId, await policy.retentionOf(tenantId), nowMs));
      }
      await store.recordBoundaries(postgres.db, boundaries, nowMs);
      after = tenantIds.at(-1) ?? '';
      if (tenantIds.length < TENANTS_PER_STEP) return;
    }
  }

  async #deleteFailedEvents(signal?: AbortSignal): Promise<number> {
    let deleted = 0;
    while (signal?.aborted !== true) {
      const step = await store.deleteFailedEvents(this.deps.postgres.db, FAILED_EVENTS_PER_STEP);
      deleted += step;
      if (step < FAILED_EVENTS_PER_STEP) break;
    }
    return deleted;
  }
}
