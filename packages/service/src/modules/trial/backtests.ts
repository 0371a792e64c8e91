import {
  BACKTEST_AT_ONCE_BYTES_MAX,
  BACKTEST_AT_ONCE_EVENTS_MAX,
  BACKTEST_EVENTS_MAX,
  BACKTEST_KEPT_DAYS,
  BACKTESTS_KEPT_MAX,
  type Backtest,
  type BacktestRequest,
} from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { Page } from '../../kernel/page.js';
import type { ProjectRef, ProjectScope } from '../../kernel/scope.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Logger } from '../../platform/log/index.js';
import { isUniqueViolation, type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { endsWithin } from '../../platform/wait.js';
import { ProjectHistory, type UsageHistory } from '../storage/index.js';
import { countInputs, inputBytes, type ReplaySelection, resolveTimeRange } from '../usage/index.js';
import type { BacktestRating, BacktestWork } from './backtest-rating.js';
import { type BacktestSlotBounds, BacktestSlots } from './backtest-slots.js';
import * as store from './backtest-store.js';
import { deleteBacktestsBefore } from './backtest-sweep-store.js';
import type { OnProgress } from './replay.js';

export interface BacktestDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly rating: BacktestRating;
  readonly history: UsageHistory;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  /** Overrides for tests. */
  readonly bounds?: Partial<BacktestBounds>;
}

export interface BacktestBounds extends BacktestSlotBounds {
  readonly eventsMax: number;
  readonly atOnceEventsMax: number;
  /** Longest time that a response waits for a small backtest. */
  readonly atOnceMsMax: number;
}

const DEFAULT_BOUNDS: BacktestBounds = {
  perTenantMax: 4,
  totalMax: 100,
  eventsMax: BACKTEST_EVENTS_MAX,
  atOnceEventsMax: BACKTEST_AT_ONCE_EVENTS_MAX,
  atOnceMsMax: 10_000,
};
/** Interval at which a run reports that it is alive, and checks whether it was cancelled. */
const ALIVE_INTERVAL_MS = 1_000;
/** Several times the duration of the longest query: a node that reports nothing for this long runs nothing. */
const SILENT_MS_MAX = 60_000;
const SECONDS_PER_DAY = 86_400;
const INTERRUPTED = {
  code: 'interrupted',
  message: 'The process that ran the backtest has ended. Start it again.',
} as const;

/** Reasons for stopping a run. */
const CANCELLED = new Error('the backtest was cancelled');
const CLOSING = new Error('the process is ending');

/** A running backtest. */
interface Run {
  readonly owner: ProjectScope;
  readonly id: string;
  readonly abort: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** Backtests of one process: each runs on the node that got the request, and is shown by all nodes. */
export class Backtests {
  readonly #deps: BacktestDeps;
  readonly #runs = new Map<string, Run>();
  readonly #places: BacktestSlots;
  readonly #bounds: BacktestBounds;
  #isClosing = false;

  constructor(deps: BacktestDeps) {
    this.#deps = deps;
    this.#bounds = { ...DEFAULT_BOUNDS, ...deps.bounds };
    this.#places = new BacktestSlots(this.#bounds);
  }

  /** For metrics. */
  get runningCount(): number {
    return this.#runs.size;
  }

  /**
   * Starts a backtest, and waits a while for its end if it is small.
   *
   * @throws DomainError as `BacktestRating.check` does; `backtest_running` while the project has one; `server_busy`
   */
  async start(project: ProjectRef, request: BacktestRequest): Promise<Backtest> {
    await this.#deps.rating.check(project, request);
    const { from, to } = resolveTimeRange(request.time_range, unixSeconds(this.#deps.clock));
    const selection: ReplaySelection = {
      extractorRuleSetId: request.extractor_rule_set_id,
      from,
      to,
      share: request.sample ?? 1,
    };
    const scope = await this.#deps.history.scopeOf(project);
    const run = await this.#begin({ project, request, scope, selection });
    if (run.isSmall) {
      await endsWithin(run.ended, this.#bounds.atOnceMsMax);
    }
    return this.read(project, run.id);
  }

  /** @throws DomainError `not_found` */
  async read(owner: ProjectScope, id: string): Promise<Backtest> {
    await this.#failSilent(owner);
    const found = await store.readBacktest(this.#db(owner), id, this.#keptSince());
    if (found === undefined) throw new DomainError('not_found');
    const { request, result } = found;
    return { ...toListed(found), request, result };
  }

  async list(owner: ProjectScope, page: Page) {
    await this.#failSilent(owner);
    const { items, totalCount } = await store.listBacktests(this.#db(owner), this.#keptSince(), page);
    return { items: items.map(toListed), totalCount };
  }

  /**
   * Cancels a running backtest on any node; one that has ended stays as it is.
   *
   * @throws DomainError `not_found`
   */
  async cancel(owner: ProjectScope, id: string): Promise<Backtest> {
    await store.markCancelled(this.#db(owner), id, unixSeconds(this.#deps.clock));
    const backtest = await this.read(owner, id);
    this.#runs.get(id)?.abort.abort(CANCELLED);
    return backtest;
  }

  /** Stops running backtests, and waits until that is stored. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const runs = [...this.#runs.values()];
    for (const { abort } of runs) abort.abort(CLOSING);
    await Promise.all(runs.map(({ ended }) => ended));
  }

  async #begin(work: BacktestWork): Promise<Run & { readonly isSmall: boolean }> {
    if (this.#isClosing) throw new DomainError('shutting_down');
    const { project: owner, request } = work;
    const release = this.#places.take(owner.tenantId);
    try {
      const { eventsTotal, isSmall } = await this.#measure(work);
      const id = newId('bt', this.#deps.clock);
      await this.#insert(owner, id, request, eventsTotal);
      const abort = new AbortController();
      const ended = this.#run({ owner, id, abort }, work, eventsTotal).finally(() => {
        this.#runs.delete(id);
        release();
      });
      const run = { owner, id, abort, ended };
      this.#runs.set(id, run);
      if (this.#isClosing) abort.abort(CLOSING);
      return { ...run, isSmall };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #measure({ scope, selection }: BacktestWork): Promise<{ eventsTotal: number; isSmall: boolean }> {
    const history = new ProjectHistory(this.#deps.clickhouse, scope);
    const { eventsMax, atOnceEventsMax } = this.#bounds;
    const eventsTotal = await countInputs(history, selection, eventsMax);
    const isFew = eventsTotal <= atOnceEventsMax;
    const isSmall = isFew && (await inputBytes(history, selection)) <= BACKTEST_AT_ONCE_BYTES_MAX;
    return { eventsTotal, isSmall };
  }

  async #insert(
    owner: ProjectScope,
    id: string,
    request: BacktestRequest,
    eventsTotal: number,
  ): Promise<void> {
    const db = this.#db(owner);
    await this.#failSilent(owner);
    await deleteBacktestsBefore(this.#deps.postgres.db, this.#keptSince());
    await store.deleteSurplus(db, BACKTESTS_KEPT_MAX - 1);
    try {
      await store.insertRunning(db, { id, request, eventsTotal, nowMs: this.#deps.clock.nowMs() });
    } catch (error) {
      if (isUniqueViolation(error)) throw new DomainError('backtest_running');
      throw error;
    }
  }

  /** Runs to success or failure, and records the result. */
  async #run(
    { owner, id, abort }: Omit<Run, 'ended'>,
    work: BacktestWork,
    eventsTotal: number,
  ): Promise<void> {
    let end: store.BacktestEnd;
    try {
      const onProgress = this.#aliveTeller(owner, id, abort);
      const result = await this.#deps.rating.rate(work, abort.signal, onProgress);
      const isCut = result.cut_by.some((bound) => bound !== 'totals');
      end = {
        status: 'succeeded',
        result,
        eventsTotal: isCut ? Math.max(eventsTotal, result.event_count) : result.event_count,
      };
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
    return unixSeconds(this.#deps.clock) - BACKTEST_KEPT_DAYS * SECONDS_PER_DAY;
  }
}

function toListed(row: store.ListedBacktest): Omit<Backtest, 'request' | 'result'> {
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
