import { BACKTEST_SECONDS_MAX, type RulesTestResult } from '@tollgate/contract';
import { DomainError } from '../kernel/errors.js';
import type { ProjectRef } from '../kernel/scope.js';
import type { CheckConfig } from '../modules/rules/index.js';
import type { BacktestRating, CountLimits, OnProgress } from '../modules/trial/index.js';
import type { AnswerRules, FindUnpriced } from '../modules/usage/index.js';
import type { ClickHouse } from '../platform/clickhouse/index.js';
import type { LogLevel } from '../platform/log/index.js';
import type { PostgresConfig } from '../platform/postgres/index.js';
import {
  type CallHandlers,
  type StartTimer,
  ThreadPool,
  type ThreadPoolOptions,
} from '../platform/threads/index.js';
import { PAST_USAGE_NICENESS, RATING_NICENESS } from './priority.js';
import { answersOf, isQuick } from './rule-answers.js';
import type { RulesCalls, RulesJobs, RulesThreadData } from './rules-jobs.js';

export interface RulesThreadsDeps {
  readonly postgresConnection: PostgresConfig['connection'];
  readonly clickhouse: Pick<ClickHouse, 'queryText'>;
  readonly logLevel: LogLevel;
  /** For tests. */
  readonly program?: URL;
  readonly startTimer?: StartTimer;
}

const PROGRAM = new URL('./rules-thread.js', import.meta.url);
/** Two, so that one tenant, which runs one job at a time, leaves a thread to the others. */
const THREADS_MAX = 2;
/** A megabyte of rules takes a second or two; a machine that is busy accepting events takes many times as long. */
const JOB_SECONDS_MAX = 30;
/** Added to the time limit of a backtest, for compiling and its last page. */
const BACKTEST_MARGIN_S = 60;
const IDLE_MS_MAX = 60_000;
/**
 * A test of a megabyte of rules takes 48 MB; active prices can be 50 times as much text, most of it not
 * compiled.
 */
const HEAP_MB_MAX = 384;
const WAITING_PER_TENANT_MAX = 16;
const WAITING_MAX = 500;
const RETRY_AFTER_S = 5;
/** Interval at which a backtest that waits for its thread records that it is alive. */
const WAITING_REPORT_MS = 1_000;

const NO_CALLS: CallHandlers<RulesCalls> = {
  query: () => Promise.reject(new Error('only a backtest reads usage')),
  progress: () => Promise.reject(new Error('only a backtest reports progress')),
};

/** Compiles and tests rules of requests on separate threads, which run while they are needed. */
export class RulesThreads {
  readonly #deps: RulesThreadsDeps;
  /** Threads for jobs that a response waits for. */
  readonly #checks: ThreadPool<RulesJobs, RulesCalls>;
  /** Backtests may take minutes. */
  readonly #backtests: ThreadPool<RulesJobs, RulesCalls>;

  constructor(deps: RulesThreadsDeps) {
    this.#deps = deps;
    this.#checks = new ThreadPool(poolOptions(deps, RATING_NICENESS, JOB_SECONDS_MAX));
    const seconds = BACKTEST_SECONDS_MAX + BACKTEST_MARGIN_S;
    this.#backtests = new ThreadPool(poolOptions(deps, PAST_USAGE_NICENESS, seconds));
  }

  /** Number of waiting jobs. */
  get waitingCount(): number {
    return this.#checks.counts.waiting + this.#backtests.counts.waiting;
  }

  readonly checkConfig: CheckConfig = async ({ tenantId }, kind, input) => {
    const asked = { kind: kind.name, input };
    const config = await this.#checks.run(tenantId, 'checkConfig', asked, { calls: NO_CALLS });
    return config as ReturnType<typeof kind.checkedConfig>;
  };

  readonly testRules = (project: ProjectRef, rawBody: Buffer): Promise<RulesTestResult> =>
    this.#checks.run(project.tenantId, 'testRules', { project, rawBody }, { calls: NO_CALLS });

  readonly answerRules: AnswerRules = async ({ tenantId }, questions) => {
    if (isQuick(questions)) return answersOf(questions);
    return this.#checks.run(tenantId, 'answerRules', questions, { calls: NO_CALLS });
  };

  readonly findUnpriced: FindUnpriced = ({ tenantId, projectId }, stored, extractor) => {
    const asked = { project: { projectId }, stored, extractor };
    return this.#checks.run(tenantId, 'findUnpriced', asked, { calls: NO_CALLS });
  };

  readonly backtestRating: BacktestRating = {
    check: (project, request) =>
      this.#checks.run(project.tenantId, 'checkBacktest', { project, request }, { calls: NO_CALLS }),
    rate: (work, signal, onProgress) => this.#runBacktest('rateBacktest', work, signal, onProgress),
  };

  readonly countLimits: CountLimits = (work, signal, onProgress) =>
    this.#runBacktest('countLimits', work, signal, onProgress);

  async #runBacktest<Name extends 'rateBacktest' | 'countLimits'>(
    name: Name,
    work: RulesJobs[Name]['input'],
    signal: AbortSignal,
    onProgress: OnProgress,
  ): Promise<RulesJobs[Name]['result']> {
    // An error here is thrown again by the next report of progress, or means that the run is aborted.
    const waiting = setInterval(() => void onProgress(0).catch(() => {}), WAITING_REPORT_MS);
    const calls: CallHandlers<RulesCalls> = {
      query: ({ sql, params }) => this.#deps.clickhouse.queryText(sql, params, { signal }),
      progress: (eventsDone) => {
        clearInterval(waiting);
        return onProgress(eventsDone).then(() => undefined);
      },
    };
    try {
      return await this.#backtests.run(work.project.tenantId, name, work, { calls, signal });
    } finally {
      clearInterval(waiting);
    }
  }

  /** Stops all running and waiting jobs. */
  async close(): Promise<void> {
    await Promise.all([this.#checks.close(), this.#backtests.close()]);
  }
}

function poolOptions(
  { postgresConnection, logLevel, program = PROGRAM, startTimer }: RulesThreadsDeps,
  niceness: number,
  jobSecondsMax: number,
): ThreadPoolOptions {
  const workerData: RulesThreadData = { postgresConnection, logLevel, niceness };
  return {
    thread: { program, workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX } },
    threadsMax: THREADS_MAX,
    idleMsMax: IDLE_MS_MAX,
    jobMsMax: jobSecondsMax * 1_000,
    startTimer,
    waitingPerOwnerMax: WAITING_PER_TENANT_MAX,
    waitingMax: WAITING_MAX,
    errors: {
      busy: () => {
        const message = `Too many rules of this tenant are waiting to be checked (at most ${WAITING_PER_TENANT_MAX}). Try again later.`;
        return new DomainError('server_busy', { message, retryAfterS: RETRY_AFTER_S });
      },
      tooLong: () =>
        new DomainError('rules_time_limit_exceeded', {
          message: `The rules were not checked within ${jobSecondsMax} seconds. Try again later, or with fewer or simpler rules.`,
          retryAfterS: RETRY_AFTER_S,
        }),
      ended: (cause) =>
        new DomainError('internal_error', {
          message:
            'The check of the rules ended unexpectedly; nothing was stored. Try again, or with fewer or simpler rules.',
          cause,
        }),
    },
  };
}
