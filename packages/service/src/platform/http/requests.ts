import { randomBytes } from 'node:crypto';
import type { onRequestHookHandler, onResponseHookHandler, RouteOptions } from 'fastify';
import type { Logger } from '../log/index.js';
import { DurationHistogram, type DurationSeries, type Metrics } from '../metrics/index.js';
import type { Tracing } from '../tracing/index.js';

/** Counts one request when its response has been sent. */
export type ObserveRequest = (requestId: string, status: number, durationMs: number) => void;

/** A request that takes longer is logged. */
const SLOW_REQUEST_MS = 2_000;

/**
 * Measures every request by its route's pattern, never by its path (ids must not become label values), and logs slow
 * ones. Nothing else is logged about a successful request.
 */
export class RequestObserver {
  readonly #durations: DurationHistogram;
  readonly #log: Logger;

  constructor(metrics: Metrics, log: Logger) {
    this.#log = log;
    this.#durations = new DurationHistogram({
      name: 'tollgate_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its response.',
      registers: [metrics],
    });
  }

  /** Observes the requests of one route; call it once per route. */
  ofRoute(method: string, route: string): ObserveRequest {
    const byStatus = new Map<number, DurationSeries>();
    return (requestId, status, durationMs) => {
      let series = byStatus.get(status);
      if (series === undefined) {
        series = this.#durations.series({ method, route, status: String(status) });
        byStatus.set(status, series);
      }
      series.observe(durationMs);
      if (durationMs > SLOW_REQUEST_MS) {
        this.#log.warn({ requestId, method, route, status, durationMs }, 'slow request');
      }
    };
  }
}

/** An incoming id is kept when it is plain and short, so that it cannot forge log lines or headers. */
const PLAIN_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns a generator of request ids: a random prefix and a counter, far cheaper than a random id per request. */
export function requestIds(): (incoming: string | string[] | undefined) => string {
  const prefix = randomBytes(9).toString('base64url');
  let count = 0;
  return (incoming) => {
    if (typeof incoming === 'string' && PLAIN_ID.test(incoming)) return incoming;
    count += 1;
    return `req_${prefix}.${count.toString(36)}`;
  };
}

/** Routes that probes and scrapers read all the time; their traces would hide all others. */
const PROBED = new Set(['/healthz', '/readyz', '/metrics']);

/** Adds hooks that record a span of each request of a route, from its head to the end of its response. */
export function traceRoute(route: RouteOptions, tracing: Tracing): void {
  if (PROBED.has(route.url)) return;
  const begin: onRequestHookHandler = (request, _reply, done) => {
    const { traceparent, tracestate } = request.headers;
    request.span = tracing.beginRequest({
      method: request.method,
      route: route.url,
      requestId: request.id,
      // Node joins repeated fields to one text.
      fields: { traceparent: traceparent?.toString(), tracestate: tracestate?.toString() },
    });
    done();
  };
  const end: onResponseHookHandler = (request, reply, done) => {
    request.span?.end(reply.statusCode);
    done();
  };
  route.onRequest = [begin, ...[route.onRequest ?? []].flat()];
  route.onResponse = [...[route.onResponse ?? []].flat(), end];
}
