import {
  BACKTEST_AT_ONCE_BYTES_MAX,
  BACKTEST_AT_ONCE_EVENTS_MAX,
  BACKTEST_EVENTS_MAX,
  type Backtest,
  type BacktestRequest,
  type BacktestResult,
} from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Page } from '../../kernel/page.js';
import type { ProjectRef, ProjectScope } from '../../kernel/scope.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { endsWithin } from '../../platform/wait.js';
import { ProjectHistory, type UsageHistory } from '../storage/index.js';
import { countInputs, inputBytes, type ReplaySelection, resolveTimeRange } from '../usage/index.js';
import { type BacktestJobs, backtestState } from './backtest-jobs.js';
import type { BacktestRating, BacktestWork } from './backtest-rating.js';
import type { StoredBacktest } from './backtest-store.js';

export interface BacktestDeps {
  readonly jobs: BacktestJobs;
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly rating: BacktestRating;
  readonly history: UsageHistory;
  readonly clock: Clock;
  /** Overrides for tests. */
  readonly bounds?: Partial<BacktestBounds>;
}

export interface BacktestBounds {
  readonly eventsMax: number;
  readonly atOnceEventsMax: number;
  /** Longest time that a response waits for a small backtest. */
  readonly atOnceMsMax: number;
}

const DEFAULT_BOUNDS: BacktestBounds = {
  eventsMax: BACKTEST_EVENTS_MAX,
  atOnceEventsMax: BACKTEST_AT_ONCE_EVENTS_MAX,
  atOnceMsMax: 10_000,
};

/** Backtests of rules. */
export class Backtests {
  readonly #deps: BacktestDeps;
  readonly #bounds: BacktestBounds;

  constructor(deps: BacktestDeps) {
    this.#deps = deps;
    this.#bounds = { ...DEFAULT_BOUNDS, ...deps.bounds };
  }

  /**
   * Starts a backtest, and waits a while for its end if it is small.
   *
   * @throws DomainError as `BacktestRating.check` and `BacktestJobs.begin` do
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
    const work = { project, request, scope, selection };
    let eventsTotal = 0;
    let isSmall = false;
    const run = await this.#deps.jobs.begin({
      owner: project,
      planId: undefined,
      request,
      measure: async () => {
        ({ eventsTotal, isSmall } = await this.#measure(work));
        return eventsTotal;
      },
      run: async (signal, onProgress) => {
        const result = await this.#deps.rating.rate(work, signal, onProgress);
        const isCut = result.cut_by.some((bound) => bound !== 'totals');
        const eventsDone = result.event_count;
        return { result, eventsDone, eventsTotal: isCut ? Math.max(eventsTotal, eventsDone) : eventsDone };
      },
    });
    if (isSmall) await endsWithin(run.ended, this.#bounds.atOnceMsMax);
    return this.read(project, run.id);
  }

  /** @throws DomainError `not_found` */
  async read(owner: ProjectScope, id: string): Promise<Backtest> {
    return toBacktest(await this.#deps.jobs.read(owner, { id, planId: undefined }));
  }

  async list(owner: ProjectScope, page: Page) {
    const { items, totalCount } = await this.#deps.jobs.list(owner, undefined, page);
    return { items: items.map(backtestState), totalCount };
  }

  /** @throws DomainError `not_found` */
  async cancel(owner: ProjectScope, id: string): Promise<Backtest> {
    return toBacktest(await this.#deps.jobs.cancel(owner, { id, planId: undefined }));
  }

  async #measure({
    scope,
    selection,
  }: BacktestWork): Promise<{ readonly eventsTotal: number; readonly isSmall: boolean }> {
    const history = new ProjectHistory(this.#deps.clickhouse, scope);
    const { eventsMax, atOnceEventsMax } = this.#bounds;
    const eventsTotal = await countInputs(history, selection, eventsMax);
    const isFew = eventsTotal <= atOnceEventsMax;
    const isSmall = isFew && (await inputBytes(history, selection)) <= BACKTEST_AT_ONCE_BYTES_MAX;
    return { eventsTotal, isSmall };
  }
}

function toBacktest(row: StoredBacktest): Backtest {
  const result = row.result as BacktestResult | null;
  return { ...backtestState(row), request: row.request, result };
}
