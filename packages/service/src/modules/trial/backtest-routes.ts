import {
  Backtest,
  BacktestPage,
  BacktestRequest,
  closed,
  ErrorBodySchema,
  PageQuery,
  ProjectParams,
} from '@tollgate/contract';
import { Type } from 'typebox';
import { type App, pageOf } from '../../platform/http/index.js';
import type { Backtests } from './backtests.js';

export interface BacktestRouteDeps {
  readonly backtests: Pick<Backtests, 'start' | 'read' | 'list' | 'cancel'>;
}

/** A backtest tests rules, and shows usage. */
const access = { kind: 'project', permission: ['rules:read', 'usage:read'] } as const;
const tags = ['Rules'];
const OneParams = Type.Object(
  { ...ProjectParams.properties, id: Type.String({ description: 'Backtest id.' }) },
  closed,
);

/** Routes of backtests: the cost of stored usage by other rules. */
export function registerBacktestRoutes(app: App, { backtests }: BacktestRouteDeps): void {
  registerReadRoutes(app, backtests);
  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/rules/backtest',
    config: { access },
    schema: {
      tags,
      summary: 'Backtest rules',
      description:
        'Rates stored events of an extractor rule set by the given rules, and compares the result with what was ' +
        'charged. Without pricing rules, each event is priced by the rules that were published at its time. ' +
        'Prices by totals are computed over the whole periods that the time range touches; events of these periods ' +
        'that are outside the range, or not in the sample, count and are not compared. ' +
        'Returns 200 with the result if there are few events, otherwise 202: then read the backtest by its id ' +
        'until it has ended. Does not change usage. Each project can run one backtest at a time.',
      operationId: 'backtestRules',
      params: ProjectParams,
      body: BacktestRequest,
      response: { 200: Backtest, 202: Backtest, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const backtest = await backtests.start(request.project, request.body);
      return reply.code(backtest.status === 'running' ? 202 : 200).send(backtest);
    },
  });
  app.route({
    method: 'DELETE',
    url: '/v1/projects/:project_id/rules/backtests/:id',
    config: { access },
    schema: {
      tags,
      summary: 'Cancel a backtest',
      description: 'Ends a running backtest and returns it. A backtest that has ended stays as it is.',
      operationId: 'cancelBacktest',
      params: OneParams,
      response: { 200: Backtest },
    },
    handler: (request) => backtests.cancel(request.project, request.params.id),
  });
}

function registerReadRoutes(app: App, backtests: Pick<Backtests, 'read' | 'list'>): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/rules/backtests',
    config: { access },
    schema: {
      tags,
      summary: 'List backtests',
      description: 'Returns backtests newest first, without their requests and results.',
      operationId: 'listBacktests',
      params: ProjectParams,
      querystring: PageQuery,
      response: { 200: BacktestPage },
    },
    handler: async ({ project, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await backtests.list(project, page);
      return { backtests: items, total_count: totalCount, ...page };
    },
  });
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/rules/backtests/:id',
    config: { access },
    schema: {
      tags,
      summary: 'Read a backtest',
      description: 'Returns the progress of a backtest while it runs, then its result.',
      operationId: 'getBacktest',
      params: OneParams,
      response: { 200: Backtest },
    },
    handler: (request) => backtests.read(request.project, request.params.id),
  });
}
