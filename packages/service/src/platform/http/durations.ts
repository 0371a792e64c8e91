import { Histogram, type Metrics } from '../metrics/index.js';
import type { App } from './types.js';

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Child = Histogram.Internal<'method' | 'route' | 'status'>;

/** Records how long every request took, by route pattern, never by path: ids must not become label values. */
export function recordDurations(app: App, metrics: Metrics): void {
  const durations = new Histogram({
    name: 'tollgate_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_S,
    registers: [metrics],
  });
  // Looking a child up by its labels costs more than observing, so each is looked up once.
  const children = new Map<string, Map<number, Child>>();
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const method = route === 'none' ? 'any' : request.method;
    const name = `${method} ${route}`;
    const byStatus = children.get(name) ?? new Map<number, Child>();
    children.set(name, byStatus);
    let child = byStatus.get(reply.statusCode);
    if (child === undefined) {
      child = durations.labels({ method, route, status: String(reply.statusCode) });
      byStatus.set(reply.statusCode, child);
    }
    child.observe(reply.elapsedTime / 1000);
    done();
  });
}
