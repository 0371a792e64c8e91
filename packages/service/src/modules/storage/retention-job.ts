import type { Clock } from '../../kernel/clock.js';
import type { Logger } from '../../platform/log/index.js';
import type { Metrics } from '../../platform/metrics/index.js';
import type { Db, Postgres } from '../../platform/postgres/index.js';
import { createSweepJob, inBatches, type SweepJob } from '../../platform/sweep-job.js';
import { firstDayOfMonth } from './days.js';
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
  /** A clock that never goes back; default: that of the process. */
  readonly monotonicMs?: () => number;
}

/** Interval between sweeps over all history. */
export const SWEEP_INTERVAL_MS = 60 * 60_000;
/** After this time, a sweep that was interrupted is done again. */
export const SWEEP_RETRY_MS = 10 * 60_000;
/**
 * Age from which a recorded boundary is safe to delete by: everyone who reads history knows it, and no query that began
 * before still runs.
 */
export const SETTLED_MS = 5 * 60_000;
/** A longer time since the last sweep means a long stop, or a clock that is wrong. */
const GAP_MS_MAX = 2 * 24 * 60 * 60_000;
/** For so long a process waits after such a time: a wrong clock is usually corrected in minutes. */
export const GAP_WAIT_MS = 60 * 60_000;
const POLL_MS = 60_000;
const TENANTS_PER_STEP = 500;
const FAILED_EVENTS_PER_STEP = 1_000;

/**
 * Deletes history that has expired. A sweep does so if one is due, and returns whether it was; of all jobs that run on
 * one database, one does the work.
 */
export function createRetentionJob(deps: RetentionJobDeps): SweepJob<boolean> {
  const retention = new Retention(deps);
  return createSweepJob({
    sweep: (signal) => retention.sweep(signal),
    pollMs: POLL_MS,
    log: deps.log,
    failureMessage: 'could not delete expired history; will try again',
    failures: retention.observer.failures,
  });
}

/**
 * Returns from which day on the history of each project with expired history is kept, as whole months are deleted. The
 * job deletes earlier days, and so may every other place that has rows.
 */
export async function firstKeptDays(
  db: Db,
  nowMs: number,
): Promise<{ readonly projectId: string; readonly day: number }[]> {
  const settled = await store.settledBoundaries(db, nowMs - SETTLED_MS);
  return settled.map(({ projectId, retainedFromDay }) => ({
    projectId,
    day: firstDayOfMonth(retainedFromDay),
  }));
}

class Retention {
  readonly #deps: RetentionJobDeps;
  readonly observer: RetentionObserver;
  /** When this process noticed the long time since the last sweep, by its monotonic clock. */
  #gapSinceMs: number | undefined;

  constructor(deps: RetentionJobDeps) {
    this.#deps = deps;
    this.observer = new RetentionObserver(deps.metrics, deps.clock);
  }

  async sweep(signal?: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#deps;
    const { db } = this.#deps.postgres;
    const nowMs = clock.nowMs();
    this.observer.sweptAtMs = await store.lastSweptAtMs(db);
    if (!this.#isTrusted(nowMs)) return false;
    const claim = { nowMs, untilMs: nowMs + SWEEP_RETRY_MS, intervalMs: SWEEP_INTERVAL_MS };
    if (!(await store.claimRetention(db, claim))) return false;
    // Boundaries that are recorded now are deleted by a later sweep.
    const settled = await store.settledBoundaries(db, nowMs - SETTLED_MS);
    await this.#recordBoundaries(signal);
    const failedEvents = await this.#deleteFailedEvents(signal);
    const expired = await expire(this.#clickhouse(signal), settled, signal);
    this.observer.count(failedEvents, expired);
    for (const { table, problem } of expired.stuck) {
      log.warn({ table, problem }, 'a deletion of expired history has failed; ClickHouse will try again');
    }
    if (signal?.aborted === true) return true;
    await store.finishSweep(db, clock.nowMs(), clock.nowMs() + SWEEP_INTERVAL_MS);
    this.observer.sweptAtMs = clock.nowMs();
    const { partitionsDropped, deletions } = expired;
    if (failedEvents + partitionsDropped + deletions > 0) {
      log.info({ failedEvents, partitionsDropped, deletions }, 'deleted expired history');
    }
    return true;
  }

  /** Whether the clock can be right: what a sweep hides and deletes by a wrong one does not come back. */
  #isTrusted(nowMs: number): boolean {
    const { log, monotonicMs = () => performance.now() } = this.#deps;
    const sinceLastMs = nowMs - (this.observer.sweptAtMs ?? nowMs);
    if (sinceLastMs <= GAP_MS_MAX) {
      this.#gapSinceMs = undefined;
      return true;
    }
    if (this.#gapSinceMs === undefined) {
      this.#gapSinceMs = monotonicMs();
      const message =
        'expired history was last deleted days ago; deletion waits for an hour, in case the clock is wrong';
      log.warn({ sinceLastMs }, message);
    }
    return monotonicMs() - this.#gapSinceMs >= GAP_WAIT_MS;
  }

  /** Returns a client whose queries are not waited for once `signal` aborts. */
  #clickhouse(signal: AbortSignal | undefined): HistoryStore {
    const { clickhouse } = this.#deps;
    if (signal === undefined) return clickhouse;
    return {
      query: (sql, params) => clickhouse.query(sql, params, { signal }),
      command: (sql, params) => clickhouse.command(sql, params),
      systemTable: (name) => clickhouse.systemTable(name),
    };
  }

  async #recordBoundaries(signal?: AbortSignal): Promise<void> {
    let after = '';
    while (true) {
      const tenantIds = await store.tenantsAfter(this.#deps.postgres.db, after, TENANTS_PER_STEP);
      for (const tenantId of tenantIds) {
        if (signal?.aborted === true) return;
        await recordRetention(this.#deps, tenantId);
      }
      after = tenantIds.at(-1) ?? '';
      if (tenantIds.length < TENANTS_PER_STEP) return;
    }
  }

  #deleteFailedEvents(signal?: AbortSignal): Promise<number> {
    const deleteNext = () => store.deleteFailedEvents(this.#deps.postgres.db, FAILED_EVENTS_PER_STEP);
    return inBatches(FAILED_EVENTS_PER_STEP, deleteNext, signal);
  }
}
