import {
  closed,
  ErrorBodySchema,
  LimitBacktest,
  LimitBacktestPage,
  LimitBacktestRequest,
  LimitBacktestStarted,
  PageQuery,
  ProjectParams,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, pageOf } from '../../platform/http/index.js';
import type { LimitBacktests } from './limit-backtests.js';

/** A backtest shows the rules of a plan, and usage. */
const config = { access: { kind: 'project', permission: ['usage_control:read', 'usage:read'] } } as const;
const tags = ['Limits'];
const url = '/v1/projects/:project_id/usage-limit-plans/:id';
const planParams = {
  ...ProjectParams.properties,
  id: Type.String({ description: 'Id of the plan (`ulp_…`) or of any of its versions (`ulpv_…`).' }),
};
const BacktestedPlanParams = Type.Object(planParams, closed);
const LimitBacktestParams = Type.Object(
  { ...planParams, backtest_id: Type.String({ description: 'Backtest id, `bt_…`.' }) },
  closed,
);

type RoutedBacktests = Pick<LimitBacktests, 'start' | 'read' | 'list' | 'cancel'>;

/** Routes of backtests of usage limit plans: who would have been warned or blocked. */
export function registerLimitBacktestRoutes(app: App, limitBacktests: RoutedBacktests): void {
  registerReadRoutes(app, limitBacktests);
  app.route({
    method: 'POST',
    url: `${url}/backtest`,
    config,
    schema: {
      tags,
      summary: 'Backtest a usage limit plan',
      description:
        'Counts the stored usage of a time by the rules of the draft or, without one, of the active version, and finds ' +
        'who would have been warned or blocked, when, and by which rule. Usage counts at its `occurred_at`, with ' +
        'corrections as they are now, at the levels where it was counted; usage before `from` counts in windows that ' +
        'are open then. Windows follow the timezone and the anchor of the route that each subject has now. ' +
        'Concurrency limits are left out. Changes nothing. Each project can run one backtest at a time, of limits or ' +
        'of rules. Read the backtest by its id until it has ended.',
      operationId: 'backtestUsageLimitPlan',
      params: BacktestedPlanParams,
      body: LimitBacktestRequest,
      response: { 202: LimitBacktestStarted, 409: ErrorBodySchema },
    },
    handler: async ({ project, params, body }, reply) =>
      reply.code(202).send(await limitBacktests.start(project, params.id, body)),
  });
  app.route({
    method: 'DELETE',
    url: `${url}/backtests/:backtest_id`,
    config,
    schema: {
      tags,
      summary: 'Cancel a backtest of a usage limit plan',
      description: 'Ends a running backtest and returns it. A backtest that has ended stays as it is.',
      operationId: 'cancelUsageLimitPlanBacktest',
      params: LimitBacktestParams,
      response: { 200: LimitBacktest },
    },
    handler: ({ project, params }) => limitBacktests.cancel(project, params.id, params.backtest_id),
  });
}

function registerReadRoutes(app: App, limitBacktests: Pick<LimitBacktests, 'read' | 'list'>): void {
  app.route({
    method: 'GET',
    url: `${url}/backtests`,
    config,
    schema: {
      tags,
      summary: 'List backtests of a usage limit plan',
      description: 'Returns the backtests of the last week newest first, without their results.',
      operationId: 'listUsageLimitPlanBacktests',
      params: BacktestedPlanParams,
      querystring: PageQuery,
      response: { 200: LimitBacktestPage },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await limitBacktests.list(project, params.id, page);
      return { backtests: items, total_count: totalCount, ...page };
    },
  });
  app.route({
    method: 'GET',
    url: `${url}/backtests/:backtest_id`,
    config,
    schema: {
      tags,
      summary: 'Read a backtest of a usage limit plan',
      description:
        'Returns the progress of a backtest while it runs, then its results: one for each rule, window and percentage ' +
        'that usage reached in the tested time. A window that slides has one each time that usage reaches a ' +
        'percentage again after it was below. Results are kept for a week.',
      operationId: 'getUsageLimitPlanBacktest',
      params: LimitBacktestParams,
      response: { 200: LimitBacktest },
    },
    handler: ({ project, params }) => limitBacktests.read(project, params.id, params.backtest_id),
  });
}
