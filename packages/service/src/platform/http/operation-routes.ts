import { Health, ReadinessReport } from '@tollgate/contract';
import { Type } from 'typebox';
import type { Metrics } from '../metrics/index.js';
import type { Readiness } from './readiness.js';
import type { App } from './types.js';

export interface OperationDeps {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
}

/** Registers `/healthz`, `/readyz` and `/metrics`. */
export function registerOperationRoutes(app: App, { readiness, metrics }: OperationDeps): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { access: { kind: 'public' } },
    schema: {
      tags: ['Operation'],
      summary: 'Alive?',
      description: 'Returns 200 as long as the process can respond at all.',
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
        'False during shutdown, and while no events can be accepted: PostgreSQL is unavailable or read-only, or a disk is full. ' +
        'A process with the api role checks it by writing to the event queue, at most once a second. Events are accepted ' +
        'without ClickHouse too, so a failed check of it does not make the process unready.',
      operationId: 'getReadiness',
      response: { 200: ReadinessReport, 503: ReadinessReport },
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
      description: 'Prometheus text format, without tenant data.',
      operationId: 'getMetrics',
      response: {
        200: { description: 'The metrics.', content: { 'text/plain': { schema: Type.String() } } },
      },
    },
    handler: async (_request, reply) => {
      return reply.header('content-type', metrics.contentType).send(await metrics.metrics());
    },
  });
}
