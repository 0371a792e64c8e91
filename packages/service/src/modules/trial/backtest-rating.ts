import type { BacktestRequest, BacktestResult } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import type { ReplaySelection, UsageScope } from '../usage/index.js';
import type { OnProgress } from './progress.js';
import { type ReplayBounds, replay } from './replay.js';
import { periodFinder } from './trial-counters.js';
import { type RuleSetsForTrial, saved, trialRules } from './trial-rules.js';

/** Events and rules of a backtest, in a form that can be sent to another thread. */
export interface BacktestWork {
  readonly project: ProjectRef;
  readonly request: BacktestRequest;
  readonly scope: UsageScope;
  readonly selection: ReplaySelection;
}

/** The part of a backtest that compiles and rates, on any thread. */
export interface BacktestRating {
  /**
   * Checks the rules that the request names or contains.
   *
   * @throws DomainError as `trialRules` does
   */
  check(project: ProjectRef, request: BacktestRequest): Promise<void>;
  /**
   * Rates by these rules, as they are now. Progress as in `replay`.
   *
   * @throws the signal's reason once it is aborted
   */
  rate(work: BacktestWork, signal: AbortSignal, onProgress: OnProgress): Promise<BacktestResult>;
}

export interface BacktestRatingDeps {
  readonly ruleSets: RuleSetsForTrial;
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly postgres: Postgres;
  readonly clock: Clock;
  /** Overrides for tests. */
  readonly bounds?: Partial<ReplayBounds>;
}

/** Rates on the calling thread. */
export function createBacktestRating(deps: BacktestRatingDeps): BacktestRating {
  const { ruleSets } = deps;
  return {
    check: async (project, request) => {
      await trialRules(ruleSets, project, request);
      if (request.extractor === undefined) return;
      // The events belong to a rule set of this project, even if other rules are tested on them.
      const { extractor_rule_set_id: id } = request;
      await saved(ruleSets.extractors, project, id, undefined, 'an extractor', 'extractor_rule_set_id');
    },
    rate: async ({ project, request, scope, selection }, signal, onProgress) => {
      const { rating } = await trialRules(ruleSets, project, request);
      const findPeriods = periodFinder(deps, project);
      return replay({ ...deps, findPeriods }, { scope, selection, rules: rating }, signal, onProgress);
    },
  };
}
