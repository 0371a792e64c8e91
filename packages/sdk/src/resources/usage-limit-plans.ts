import type {
  CreateUsageLimitPlanBody,
  LimitBacktest,
  LimitBacktestPage,
  LimitBacktestRequest,
  LimitBacktestStarted,
  UpdateUsageLimitPlanBody,
  UsageLimitPlan,
  UsageLimitPlanDetail,
  UsageLimitPlanListQuery,
  UsageLimitPlanPage,
  UsageLimitPlanVersion,
  UsageLimitPlanVersionPage,
} from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Limit plans that subjects share: drafts, and immutable revisions. */
export class UsageLimitPlans {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  create(plan: CreateUsageLimitPlanBody, options?: CallOptions): Promise<UsageLimitPlan> {
    return this.#transport.post('/usage-limit-plans', plan, options);
  }

  /** Returns the newest published version of each plan or, without one, its draft. */
  list(query: UsageLimitPlanListQuery = {}, options?: CallOptions): Promise<UsageLimitPlanPage> {
    return this.#transport.get('/usage-limit-plans', query, options);
  }

  /** Returns the plan with its active and its draft version. */
  get(planId: string, options?: CallOptions): Promise<UsageLimitPlanDetail> {
    return this.#transport.get(path`/usage-limit-plans/${planId}`, {}, options);
  }

  versions(
    planId: string,
    page: PageOptions = {},
    options?: CallOptions,
  ): Promise<UsageLimitPlanVersionPage> {
    return this.#transport.get(path`/usage-limit-plans/${planId}/versions`, page, options);
  }

  /** Changes the draft, or opens one; the published version stays active. */
  update(
    planId: string,
    change: UpdateUsageLimitPlanBody,
    options?: CallOptions,
  ): Promise<UsageLimitPlanDetail> {
    return this.#transport.put(path`/usage-limit-plans/${planId}`, change, options);
  }

  publish(planId: string, options?: CallOptions): Promise<UsageLimitPlanVersion> {
    return this.#transport.post(path`/usage-limit-plans/${planId}/publish`, undefined, options);
  }

  archive(planId: string, options?: CallOptions): Promise<UsageLimitPlan> {
    return this.#transport.post(path`/usage-limit-plans/${planId}/archive`, undefined, options);
  }

  restore(planId: string, options?: CallOptions): Promise<UsageLimitPlan> {
    return this.#transport.post(path`/usage-limit-plans/${planId}/restore`, undefined, options);
  }

  /**
   * Begins to count past usage by the rules of the draft or, without one, of the active version: who would have been
   * warned or blocked. Poll `backtestResult` by the returned id.
   */
  backtest(
    planId: string,
    request: LimitBacktestRequest,
    options?: CallOptions,
  ): Promise<LimitBacktestStarted> {
    return this.#transport.post(path`/usage-limit-plans/${planId}/backtest`, request, options);
  }

  /** Returns the progress of a backtest while it runs, then its results. */
  backtestResult(planId: string, backtestId: string, options?: CallOptions): Promise<LimitBacktest> {
    return this.#transport.get(path`/usage-limit-plans/${planId}/backtests/${backtestId}`, {}, options);
  }

  /** Returns the backtests of a plan of the last week, newest first, without their results. */
  backtests(planId: string, page: PageOptions = {}, options?: CallOptions): Promise<LimitBacktestPage> {
    return this.#transport.get(path`/usage-limit-plans/${planId}/backtests`, page, options);
  }

  /** Ends a running backtest; one that has ended stays as it is. */
  cancelBacktest(planId: string, backtestId: string, options?: CallOptions): Promise<LimitBacktest> {
    return this.#transport.delete(path`/usage-limit-plans/${planId}/backtests/${backtestId}`, options);
  }
}
