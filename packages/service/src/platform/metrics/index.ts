import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';
export { DurationHistogram, type DurationSeries } from './duration-histogram.js';
export { addReadGauge } from './read-gauge.js';
export type Metrics = Registry;

/**
 * Creates a registry of Prometheus metrics, including those of the process (memory, processor time, event-loop lag,
 * garbage collection). Modules add their own with `registers: [metrics]`; names begin with `tollgate_`.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
