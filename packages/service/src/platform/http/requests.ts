import type { Logger } from '../log/index.js';
import { DurationHistogram, type DurationSeries, type Metrics } from '../metrics/index.js';

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
