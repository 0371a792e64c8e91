import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { createRuleSets, type RuleSets, registerRuleSetRoutes } from '../modules/rules/index.js';
import type { UsageHistory } from '../modules/storage/index.js';
import {
  BacktestJobs,
  Backtests,
  LimitBacktests,
  registerBacktestRoutes,
  registerLimitBacktestRoutes,
  registerTestRoutes,
} from '../modules/trial/index.js';
import type { App } from '../platform/http/index.js';
import type { Logger } from '../platform/log/index.js';
import { addReadGauge, type Metrics } from '../platform/metrics/index.js';
import { RulesThreads } from './rules-threads.js';
import type { Stores } from './stores.js';

export interface RulesParts {
  readonly config: Config;
  readonly stores: Stores;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface RuleServices {
  readonly ruleSets: RuleSets;
  readonly threads: RulesThreads;
  /** Ends backtests, and the threads on which rules are compiled. */
  readonly stop: () => Promise<void>;
}

/** Registers the routes of rule sets, tests and backtests, those of limits included. */
export function registerRules(
  app: App,
  { config, stores, log, metrics }: RulesParts,
  history: UsageHistory,
): RuleServices {
  const { postgres, postgresConnection, clickhouse } = stores;
  const clock = systemClock;
  const threads = new RulesThreads({ postgresConnection, clickhouse, logLevel: config.logLevel });
  const ruleSets = createRuleSets({ postgres, clock, checkConfig: threads.checkConfig });
  const rating = threads.backtestRating;
  const jobs = new BacktestJobs({ postgres, clock, log });
  const backtests = new Backtests({ jobs, clickhouse, rating, history, clock });
  const { countLimits } = threads;
  const limitBacktests = new LimitBacktests({ jobs, postgres, clickhouse, countLimits, history });
  registerRuleSetRoutes(app, ruleSets);
  registerTestRoutes(app, threads);
  registerBacktestRoutes(app, { backtests });
  registerLimitBacktestRoutes(app, limitBacktests);
  measureRules(metrics, jobs, threads);
  const stop = () => jobs.close().finally(() => threads.close());
  return { ruleSets, threads, stop };
}

function measureRules(metrics: Metrics, jobs: BacktestJobs, threads: RulesThreads): void {
  addReadGauge(
    metrics,
    'tollgate_backtests_running',
    'Backtests that run or wait in this process.',
    () => jobs.runningCount,
  );
  addReadGauge(
    metrics,
    'tollgate_rules_jobs_waiting',
    'Tests, saves and backtests of rules that wait for a rules thread.',
    () => threads.waitingCount,
  );
}
