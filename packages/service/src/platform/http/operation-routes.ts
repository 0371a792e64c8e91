import { Type } from 'typebox';
import type { Metrics } from '../metrics/index.js';
import { READINESS_PROBLEMS, type Readiness, type ReadinessProblem } from './readiness.js';
import type { App } from './types.js';

export interface OperationDeps {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
}

const Health = Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false });
const ReadinessSchema = Type.Object(
  {
    ready: Type.Boolean(),
    checks: Type.Record(Type.String(), Type.Union([Type.Literal('ok'), Type.Literal('failed')])),
    problems: Type.Optional(
      Type.Record(Type.String(), Type.Unsafe<ReadinessProblem>({ enum: READINESS_PROBLEMS }), {
        description: 'Why checks failed, by their names. The log has the errors themselves.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** `/healthz`, `/readyz` and `/metrics`. */
export function registerOperationRoutes(app: App, { readiness, metrics }: OperationDeps): void {
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
        'False from the first moment of shutdown, and while no events can be accepted: PostgreSQL is away or read-only, or a ' +
        'disk is full. A process with the api role proves it by writing where accepted events are written, at most once a ' +
        'second. Without ClickHouse events are still accepted, so its check is only reported.',
      operationId: 'getReadiness',
      response: { 200: ReadinessSchema, 503: ReadinessSchema },
    },
    handler: async (_request, reply) => {
      const report = await readiness.report();
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
