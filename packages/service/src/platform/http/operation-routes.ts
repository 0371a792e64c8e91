import { Type } from 'typebox';
import type { Logger } from '../log/index.js';
import type { Metrics } from '../metrics/index.js';
import type { Readiness } from './readiness.js';
import type { App } from './types.js';

export interface OperationDeps {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const Health = Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false });
const ReadinessSchema = Type.Object(
  {
    ready: Type.Boolean(),
    checks: Type.Record(Type.String(), Type.Union([Type.Literal('ok'), Type.Literal('failed')])),
  },
  { additionalProperties: false },
);

/** `/healthz`, `/readyz` and `/metrics`. */
export function registerOperationRoutes(app: App, { readiness, metrics, log }: OperationDeps): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { access: { kind: 'public' } },
    schema: {
      tags: ['Operation'],
      summary: 'Alive?',
      description: 'Answers as long as the process can answer at all.',
      operationId: 'getHealth',
      response: { 200: Health },
    },
    handler: async () => ({ status: 'ok' as const }),
  });
  app.route({
    method: 'GET',
    url: '/readyz',
    config: { access: { kind: 'public' } },
    schema: {
      tags: ['Operation'],
      summary: 'Able to accept work?',
      description:
        'False from the first moment of shutdown, and while PostgreSQL is away. Without ClickHouse events are still ' +
        'accepted, so its check is only reported.',
      operationId: 'getReadiness',
      response: { 200: ReadinessSchema, 503: ReadinessSchema },
    },
    handler: async (_request, reply) => {
      const report = await readiness.report((name, error) =>
        log.warn({ check: name, err: error }, 'not ready'),
      );
      if (report.ready) return reply.send(report);
      return reply.code(503).header('retry-after', '1').send(report);
    },
  });
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access: { kind: 'public' } },
    schema: {
      tags: ['Operation'],
      summary: 'Metrics',
      description: 'Prometheus text format. Holds no tenant data.',
      operationId: 'getMetrics',
      response: { 200: { content: { 'text/plain': { schema: Type.String() } } } },
    },
    handler: async (_request, reply) => {
      return reply.header('content-type', metrics.contentType).send(await metrics.metrics());
    },
  });
}
