import type { Clock } from '../../kernel/clock.js';
import type { Logger } from '../../platform/log/index.js';
import type { Metrics } from '../../platform/metrics/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { repeat } from '../../platform/wakeup.js';
import { expire } from './expiry.js';
import type { HistoryStore } from './expiry-store.js';
import { type RetentionPolicy, recordRetention } from './record-retention.js';
import { RetentionObserver } from './retention-observer.js';
import * as store from './retention-store.js';

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
    await this.#recordBoundaries(signal);
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

  async #recordBoundaries(signal?: AbortSignal): Promise<void> {
    let after = '';
    while (true) {
      const tenantIds = await store.tenantsAfter(this.deps.postgres.db, after, TENANTS_PER_STEP);
      for (const tenantId of tenantIds) {
        if (signal?.aborted === true) return;
        await recordRetention(this.deps, tenantId);
      }
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
