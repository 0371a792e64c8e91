import type {
  BacktestRequest,
  BacktestResult,
  ExtractorConfig,
  RulesTestResult,
  UnpricedItem,
} from '@tollgate/contract';
import type { ProjectRef } from '../kernel/scope.js';
import type { BacktestWork, LimitBacktestFindings, LimitBacktestWork } from '../modules/trial/index.js';
import type { AnswerRules, RuleQuestion, StoredInput } from '../modules/usage/index.js';
import type { LogLevel } from '../platform/log/index.js';
import type { PostgresConfig } from '../platform/postgres/index.js';
import type { ClickHouseCall } from './clickhouse-calls.js';

/** The start data of a rules thread. */
export interface RulesThreadData {
  readonly postgresConnection: PostgresConfig['connection'];
  readonly logLevel: LogLevel;
  readonly niceness: number;
}

/** The jobs of a rules thread. */
export interface RulesJobs {
  /** The config of a rule set that will be saved. */
  readonly checkConfig: {
    readonly input: { readonly kind: 'extractor' | 'pricing'; readonly input: object };
    readonly result: object;
  };
  readonly testRules: {
    readonly input: { readonly project: ProjectRef; readonly rawBody: Uint8Array };
    readonly result: RulesTestResult;
  };
  readonly checkBacktest: {
    readonly input: { readonly project: ProjectRef; readonly request: BacktestRequest };
    readonly result: undefined;
  };
  readonly answerRules: {
    readonly input: readonly RuleQuestion[];
    readonly result: Awaited<ReturnType<AnswerRules>>;
  };
  /** Explains why charge items of a stored event have no price, by the version that read it. */
  readonly findUnpriced: {
    readonly input: {
      readonly project: Pick<ProjectRef, 'projectId'>;
      readonly stored: StoredInput;
      readonly extractor: ExtractorConfig;
    };
    readonly result: readonly UnpricedItem[];
  };
  readonly rateBacktest: { readonly input: BacktestWork; readonly result: BacktestResult };
  /** Counts past usage by the rules of a usage limit plan. */
  readonly countLimits: { readonly input: LimitBacktestWork; readonly result: LimitBacktestFindings };
}

/** Requests of a rules thread to the main thread, which runs ClickHouse. */
export interface RulesCalls {
  readonly query: ClickHouseCall;
  /** The number of a backtest's events that are done. */
  readonly progress: { readonly input: number; readonly result: undefined };
}
