import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable, pageFields, UnixSeconds } from './common.js';
import { limitRuleFields } from './limit-rule.js';
import { subjectFields } from './realtime-limits.js';
import { BacktestFailure, BacktestProgress, BacktestStatus } from './rules-trial.js';

/** Upper bound of the time that a backtest of limits covers. */
export const LIMIT_BACKTEST_DAYS_MAX = 366;
/** Upper bound of the subjects that a backtest of limits names. */
export const LIMIT_BACKTEST_SUBJECTS_MAX = 100;
/** Upper bound of the results of a backtest of limits. */
export const LIMIT_BACKTEST_RESULTS_MAX = 5_000;

export const LimitBacktestSubject = Type.Object(subjectFields, {
  ...closed,
  description: 'A subject to test, by its type and id; not `*`.',
});

export const LimitBacktestRequest = Type.Object(
  {
    from: { ...UnixSeconds, description: 'Start of the tested time, inclusive, in Unix seconds.' },
    to: {
      ...UnixSeconds,
      description: `Exclusive, in Unix seconds; at most ${LIMIT_BACKTEST_DAYS_MAX} days after \`from\`.`,
    },
    subjects: Type.Optional(
      Type.Array(LimitBacktestSubject, {
        minItems: 1,
        maxItems: LIMIT_BACKTEST_SUBJECTS_MAX,
        description:
          'The only subjects to test, whatever their plan; each needs a route, its own or a `*` route. Default: all ' +
          'subjects whose route uses the plan.',
      }),
    ),
  },
  { ...closed, description: 'The time, and the subjects, on whose usage a usage limit plan is tested.' },
);

export const LimitBacktestStarted = Type.Object(
  { id: Type.String({ description: 'Id of the backtest, `bt_…`.' }) },
  { ...closed, description: 'A backtest that has begun.' },
);

export const LimitBacktestResult = Type.Object(
  {
    ...subjectFields,
    limit_key: limitRuleFields.limit_key,
    window_id: Type.String({
      description:
        'The window that reached it: the period and the start of the window, in Unix seconds; the period alone for a ' +
        'window that slides.',
    }),
    outcome: Type.Enum(['warned', 'blocked'], {
      description:
        '`blocked`: the limit of a `block` rule was reached. `warned`: a percentage below 100, or the limit of a ' +
        '`notify` rule.',
    }),
    threshold_percent: Type.Integer({
      description: 'The percentage of the limit that was reached; 100 for all of it.',
    }),
    at: { ...UnixSeconds, description: '`occurred_at` of the event that reached it.' },
    used_amount: { ...DecimalText, description: 'Usage of the window with that event; exact.' },
    limit_amount: {
      ...DecimalText,
      description: 'The limit of the window with the raises that the route had at that time; exact.',
    },
    raw_event_id: Type.String({ description: 'The event that reached it.' }),
  },
  { ...closed, description: 'A percentage of a limit that usage would have reached.' },
);

export const LimitBacktest = Type.Object(
  {
    id: Type.String({ description: '`bt_…`' }),
    usage_limit_plan_id: Type.String({ description: 'The tested plan, `ulp_…`.' }),
    revision: Type.Integer({ minimum: 0, description: 'The tested revision of the plan; 0 for its draft.' }),
    request: LimitBacktestRequest,
    status: BacktestStatus,
    progress: BacktestProgress,
    results: Type.Array(LimitBacktestResult, {
      description: `In the order of time, at most ${LIMIT_BACKTEST_RESULTS_MAX}; empty until the backtest has succeeded.`,
    }),
    truncated: Type.Boolean({
      description: 'Whether a bound was reached: results, events, time or memory. Later usage was left out.',
    }),
    counted_until: Nullable({
      ...UnixSeconds,
      description:
        'The results are complete before this time: `to`, unless they are truncated. Null without results.',
    }),
    failure: Nullable(BacktestFailure),
    created_at: UnixSeconds,
    finished_at: Nullable(UnixSeconds),
  },
  {
    ...closed,
    description:
      'Who would have been warned or blocked by a usage limit plan. Limits on concurrent work (`concurrency`) are not ' +
      'tested: the history of usage does not have the leases that they count.',
  },
);

const {
  results: _results,
  truncated: _truncated,
  counted_until: _countedUntil,
  ...listedFields
} = LimitBacktest.properties;

export const LimitBacktestSummary = Type.Object(listedFields, {
  ...closed,
  description: 'A backtest of a usage limit plan without its results.',
});

export const LimitBacktestPage = Type.Object(
  {
    backtests: Type.Array(LimitBacktestSummary, { description: 'Newest first, without their results.' }),
    ...pageFields,
  },
  { ...closed, description: 'One page of backtests of a usage limit plan.' },
);

export type LimitBacktestSubject = Static<typeof LimitBacktestSubject>;
export type LimitBacktestRequest = Static<typeof LimitBacktestRequest>;
export type LimitBacktestStarted = Static<typeof LimitBacktestStarted>;
export type LimitBacktestResult = Static<typeof LimitBacktestResult>;
export type LimitBacktest = Static<typeof LimitBacktest>;
export type LimitBacktestSummary = Static<typeof LimitBacktestSummary>;
export type LimitBacktestPage = Static<typeof LimitBacktestPage>;
