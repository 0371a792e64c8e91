import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';
export { DurationHistogram, type DurationSeries } from './duration-histogram.js';
export { addReadGauge } from './read-gauge.js';
export type Metrics = Registry;

/**
 * A registry of Prometheus metrics, with those of the process (memory, processor time, event-loop lag, garbage
 * collection) already in it. Modules add theirs with `registers: [metrics]`; names begin with `tollgate_`.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
