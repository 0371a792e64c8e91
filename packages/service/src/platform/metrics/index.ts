import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';
export { DurationHistogram, type DurationSeries } from './duration-histogram.js';
export { lastingCounts, type MetricValues, mergeMetrics } from './merge.js';
export { addReadGauge } from './read-gauge.js';
export type Metrics = Registry;

/**
 * Interval at which the lag of the event loop is measured; it is also the value that a loop without lag shows. With the
 * library's default of 10 ms, a hundred timers a second took half the processor time of an idle service.
 */
const LAG_INTERVAL_MS = 20;

/**
 * Creates a registry of Prometheus metrics, including those of the process (memory, processor time, event-loop lag,
 * garbage collection). Modules add their own with `registers: [metrics]`; names begin with `tollgate_`.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_INTERVAL_MS });
  return registry;
}
