import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

/** The metrics of a process, as another process gets them. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

/**
 * Returns the metrics of several processes as those of one: each by its own rule, which is the sum for most. Where a
 * metric says nothing about several, such as the time of the start, the first process counts.
 */
export function mergeMetrics(processes: readonly MetricValues[]): Registry {
  const values = processes.map((metrics) =>
    metrics.map((metric) => (metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric)),
  );
  return AggregatorRegistry.aggregate(values);
}

/** Returns what a process that has ended still adds: its counts, which must never go down, but no states. */
export function lastingCounts(metrics: MetricValues): MetricValues {
  return metrics.filter(({ type }) => String(type) !== 'gauge');
}
