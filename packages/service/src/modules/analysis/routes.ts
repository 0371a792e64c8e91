import {
  ANALYSIS_BODY_BYTES_MAX,
  AnalysisQuery,
  AnalysisResult,
  MetricsResponse,
  ProjectParams,
} from '@tollgate/contract';
import { Type } from 'typebox';
import type { Clock } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { App } from '../../platform/http/index.js';
import { ProjectHistory, type UsageHistory } from '../storage/index.js';
import { toCsv } from './csv.js';
import type { KnownNames } from './known-names.js';
import { usedMetrics } from './metrics-store.js';
import { nameWarnings } from './name-warnings.js';
import { flagsOtherGroups } from './normalize.js';
import { QueryQueue } from './query-queue.js';
import { analyze } from './service.js';

export interface AnalysisDeps {
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly clock: Clock;
  readonly history: UsageHistory;
  /** The names in the usage of projects. */
  readonly names: Pick<KnownNames, 'unknown'>;
}

const access = { kind: 'project', permission: 'analytics:read' } as const;

/** Registers the routes of analysis queries and of used metrics. */
export function registerAnalysisRoutes(app: App, { clickhouse, clock, history, names }: AnalysisDeps): void {
  const queue = new QueryQueue();
  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/analysis/query',
    bodyLimit: ANALYSIS_BODY_BYTES_MAX,
    config: { access },
    schema: {
      tags: ['Analysis'],
      summary: 'Query usage',
      description:
        'Returns measures of charge items per bucket, metric, unit, currency and group, exact for every bucket size: ' +
        'sums, averages, percentiles and counts of different values. ' +
        'With `limit` and dimensions, the result has the largest groups, and one row for all others. A bucket size ' +
        'that would give more than 1,500 points is raised; the response states the size used. Metrics and ' +
        'dimensions without usage match nothing and are listed in `warnings`. With `Accept: text/csv` the rows ' +
        'come as CSV, and `X-Truncated` says whether more exist.',
      operationId: 'queryUsage',
      params: ProjectParams,
      body: AnalysisQuery,
      response: {
        200: {
          description: 'The rows, as JSON or CSV.',
          content: {
            'application/json': { schema: AnalysisResult },
            'text/csv': { schema: Type.String() },
          },
        },
      },
    },
    handler: async (request, reply) => {
      const { project, body } = request;
      // Retention and storage are looked up when the query begins, because it may have waited in the queue.
      const result = await queue.run(project, body, async () =>
        analyze(clickhouse, clock, await history.scopeOf(project), body),
      );
      reply.header('vary', 'accept');
      if (!asksForCsv(request.headers.accept)) {
        return reply.send({ ...result, warnings: await nameWarnings(names, project, body, result.rows) });
      }
      reply.header('content-type', 'text/csv; charset=utf-8');
      reply.header('x-truncated', String(result.truncated));
      reply.header('content-disposition', 'attachment; filename="usage.csv"');
      return reply.send(toCsv(result, flagsOtherGroups(request.body)));
    },
  });
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/usage/metrics',
    config: { access },
    schema: {
      tags: ['Analysis'],
      summary: 'List used metrics',
      description:
        'Returns every metric that has usage in the project, with its dimensions for grouping and filtering.',
      operationId: 'listUsageMetrics',
      params: ProjectParams,
      response: { 200: MetricsResponse },
    },
    handler: async (request) => {
      const { project } = request;
      const metrics = await queue.run(project, 'metrics', async () =>
        usedMetrics(new ProjectHistory(clickhouse, await history.scopeOf(project))),
      );
      return { metrics };
    },
  });
}

/** JSON is the default; CSV only where the header names it, and not after JSON. */
function asksForCsv(accept = ''): boolean {
  const types = accept.split(',').map((entry) => entry.split(';', 1)[0]?.trim().toLowerCase());
  const named = types.find((type) => type === 'text/csv' || type === 'application/json');
  return named === 'text/csv';
}
