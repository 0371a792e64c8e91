import { Health, ReadinessReport } from '@tollgate/contract';
import { Type } from 'typebox';
import type { Metrics } from '../metrics/index.js';
import type { Readiness } from './readiness.js';
import type { App } from './types.js';

export interface OperationDeps {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** Returns the metrics as text; default: those of `metrics`. */
  readonly metricsText?: (() => Promise<string>) | undefined;
}

/** Registers `/healthz`, `/readyz` and `/metrics`. */
export function registerOperationRoutes(
  app: App,
  { readiness, metrics, metricsText = () => metrics.metrics() }: OperationDeps,
): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { access: { kind: 'public' } },
    schema: {
      tags: ['Operation'],
      summary: 'Check that the process is alive',
      description: 'Returns 200 while the process can respond.',
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
      summary: 'Check that the process accepts work',
      description:
        'Returns 503 during shutdown, and while no events can be accepted because PostgreSQL is unavailable or ' +
        'read-only, or a disk is full. A process with the api role checks it by writing to the event queue, at ' +
        'most once a second. Events are also accepted without ClickHouse, so `ready` does not depend on its check.',
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
      description: 'Returns the metrics in the Prometheus text format, without tenant data.',
      operationId: 'getMetrics',
      response: {
        200: { description: 'The metrics.', content: { 'text/plain': { schema: Type.String() } } },
      },
    },
    handler: async (_request, reply) => {
      return reply.header('content-type', metrics.contentType).send(await sharedText());
    },
  });

  /** Collecting takes milliseconds of the main thread, and everybody may ask: requests at the same time share it. */
  let current: Promise<string> | undefined;
  function sharedText(): Promise<string> {
    current ??= metricsText().finally(() => {
      current = undefined;
    });
    return current;
  }
}
