import { BACKTEST_KEPT_DAYS, BACKTESTS_KEPT_MAX, type Backtest } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { Page } from '../../kernel/page.js';
import type { ProjectScope } from '../../kernel/scope.js';
import type { Logger } from '../../platform/log/index.js';
import { isUniqueViolation, type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { type BacktestSlotBounds, BacktestSlots } from './backtest-slots.js';
import * as store from './backtest-store.js';
import { deleteBacktestsBefore } from './backtest-sweep-store.js';
import type { OnProgress } from './progress.js';

export interface BacktestJobsDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  /** Overrides for tests. */
  readonly bounds?: Partial<BacktestSlotBounds>;
}

/** A backtest to run: of rules, or of a usage limit plan. */
export interface BacktestJob {
  readonly owner: ProjectScope;
  /** Undefined for a backtest of rules. */
  readonly planId: string | undefined;
  /** Stored, and shown with the backtest. */
  readonly request: object;
  /** Returns about how many events are to be read. Called once the job has a slot. */
  measure(): Promise<number>;
  /** @throws the signal's reason once it is aborted */
  run(signal: AbortSignal, onProgress: OnProgress): Promise<Omit<store.BacktestSuccess, 'status'>>;
}

/** A backtest that has begun. */
export interface BacktestRun {
  readonly id: string;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

const DEFAULT_SLOTS: BacktestSlotBounds = { perTenantMax: 4, totalMax: 100 };
/** Interval at which a run reports that it is alive, and checks whether it was cancelled. */
const ALIVE_INTERVAL_MS = 1_000;
/** Several times the duration of the longest query: a node that reports nothing for this long runs nothing. */
const SILENT_MS_MAX = 60_000;
const INTERRUPTED = {
  code: 'interrupted',
  message: 'The process that ran the backtest has ended. Start it again.',
} as const;

/** Reasons for stopping a run. */
const CANCELLED = new Error('the backtest was cancelled');
const CLOSING = new Error('the process is ending');

interface RunningJob extends BacktestRun {
  readonly abort: AbortController;
}

/**
 * The backtests of one process, of every kind: each runs on the node that got the request, and is shown by all nodes.
 */
export class BacktestJobs {
  readonly #deps: BacktestJobsDeps;
  readonly #runs = new Map<string, RunningJob>();
  readonly #slots: BacktestSlots;
  #isClosing = false;

  constructor(deps: BacktestJobsDeps) {
    this.#deps = deps;
    this.#slots = new BacktestSlots({ ...DEFAULT_SLOTS, ...deps.bounds });
  }

  /** For metrics. */
  get runningCount(): number {
    return this.#runs.size;
  }

  /** @throws DomainError `backtest_running` while the project has one, of any kind; `server_busy`; `shutting_down` */
  async begin(job: BacktestJob): Promise<BacktestRun> {
    if (this.#isClosing) throw new DomainError('shutting_down');
    const release = this.#slots.take(job.owner.tenantId);
    try {
      const eventsTotal = await job.measure();
      const id = newId('bt', this.#deps.clock);
      await this.#insert(job, id, eventsTotal);
      const abort = new AbortController();
      const ended = this.#run(job, id, abort).finally(() => {
        this.#runs.delete(id);
        release();
      });
      this.#runs.set(id, { id, abort, ended });
      if (this.#isClosing) abort.abort(CLOSING);
      return { id, ended };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * @param key with the plan of the job; the backtests of another plan, or of rules, are not found
   * @throws DomainError `not_found`
   */
  async read(owner: ProjectScope, key: store.BacktestKey): Promise<store.StoredBacktest> {
    await this.#failSilent(owner);
    const found = await store.readBacktest(this.#db(owner), key, this.#keptSince());
    if (found === undefined) throw new DomainError('not_found');
    return found;
  }

  /** Lists the backtests of a plan; without one, those of rules, without their requests. */
  async list(owner: ProjectScope, planId: string | undefined, page: Page) {
    await this.#failSilent(owner);
    return store.listBacktests(this.#db(owner), planId, this.#keptSince(), page);
  }

  /**
   * Cancels a running backtest on any node; one that has ended stays as it is.
   *
   * @param key as `read` takes it
   * @throws DomainError `not_found`
   */
  async cancel(owner: ProjectScope, key: store.BacktestKey): Promise<store.StoredBacktest> {
    await store.markCancelled(this.#db(owner), key, unixSeconds(this.#deps.clock));
    const backtest = await this.read(owner, key);
    this.#runs.get(key.id)?.abort.abort(CANCELLED);
    return backtest;
  }

  /** Stops running backtests, and waits until that is stored. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const runs = [...this.#runs.values()];
    for (const { abort } of runs) abort.abort(CLOSING);
    await Promise.all(runs.map(({ ended }) => ended));
  }

  async #insert({ owner, planId, request }: BacktestJob, id: string, eventsTotal: number): Promise<void> {
    const db = this.#db(owner);
    await this.#failSilent(owner);
    await deleteBacktestsBefore(this.#deps.postgres.db, this.#keptSince());
    await store.deleteSurplus(db, BACKTESTS_KEPT_MAX - 1);
    try {
      const nowMs = this.#deps.clock.nowMs();
      await store.insertRunning(db, { id, planId, request, eventsTotal, nowMs });
    } catch (error) {
      if (isUniqueViolation(error)) throw new DomainError('backtest_running');
      throw error;
    }
  }

  /** Runs to success or failure, and records the result. */
  async #run(job: BacktestJob, id: string, abort: AbortController): Promise<void> {
    const { owner } = job;
    let end: store.BacktestEnd;
    try {
      const done = await job.run(abort.signal, this.#aliveTeller(owner, id, abort));
      end = { status: 'succeeded', ...done };
    } catch (error) {
      if (abort.signal.reason === CANCELLED) return;
      end = { status: 'failed', failure: this.#failureOf(error, id, abort.signal) };
    }
    try {
      await store.finish(this.#db(owner), id, end, unixSeconds(this.#deps.clock));
    } catch (error) {
      // It shows as interrupted once it has been silent for long enough.
      this.#deps.log.warn({ err: error, backtest: id }, 'could not store the end of a backtest');
    }
  }

  /**
   * Returns a callback that reports at intervals that the run is alive, with its progress, and stops the run when it
   * was cancelled.
   */
  #aliveTeller(owner: ProjectScope, id: string, abort: AbortController): OnProgress {
    const { clock } = this.#deps;
    const db = this.#db(owner);
    let toldMs = clock.nowMs();
    return async (eventsDone) => {
      const nowMs = clock.nowMs();
      if (nowMs - toldMs < ALIVE_INTERVAL_MS) return;
      toldMs = nowMs;
      if (!(await store.recordHeartbeat(db, id, eventsDone, nowMs))) abort.abort(CANCELLED);
    };
  }

  #failureOf(error: unknown, id: string, signal: AbortSignal): NonNullable<Backtest['failure']> {
    if (signal.reason === CLOSING) return INTERRUPTED;
    this.#deps.log.error({ err: error, backtest: id }, 'a backtest failed');
    return store.isStoreAway(error)
      ? { code: 'store_unavailable', message: 'A database was unavailable. Start it again.' }
      : { code: 'internal_error', message: 'Something went wrong on our side.' };
  }

  #failSilent(owner: ProjectScope): Promise<void> {
    const { clock } = this.#deps;
    return store.failSilent(this.#db(owner), clock.nowMs() - SILENT_MS_MAX, INTERRUPTED, unixSeconds(clock));
  }

  #db(owner: ProjectScope): ProjectDb {
    return new ProjectDb(this.#deps.postgres.db, owner);
  }

  #keptSince(): number {
    return unixSeconds(this.#deps.clock) - BACKTEST_KEPT_DAYS * DAY_S;
  }
}

/** Returns what every kind of backtest shows of its state. */
export function backtestState(row: store.ListedBacktest): Omit<Backtest, 'request' | 'result'> {
  const { failure_code: code, failure_message: message } = row;
  return {
    id: row.id,
    status: row.status,
    progress: { events_done: row.events_done, events_total: row.events_total },
    failure:
      code === null
        ? null
        : { code: code as NonNullable<Backtest['failure']>['code'], message: message ?? '' },
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
}
