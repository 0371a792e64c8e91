import { expect, test } from 'vitest';
import {
  addReadGauge,
  Counter,
  createMetrics,
  DurationHistogram,
  lastingCounts,
  mergeMetrics,
} from './index.js';

test('durations are a Prometheus histogram: buckets that add up, sum and count', async () => {
  const metrics = createMetrics();
  const durations = new DurationHistogram({
    name: 'tollgate_x_seconds',
    help: 'How long.',
    registers: [metrics],
  });
  const series = durations.series({ route: '/a"b' });
  for (const durationMs of [0.5, 1, 1.5, 9_999, 60_000]) series.observe(durationMs);
  const text = await metrics.getSingleMetricAsString('tollgate_x_seconds');
  expect(text).toContain('# TYPE tollgate_x_seconds histogram');
  expect(text).toContain('tollgate_x_seconds_bucket{route="/a\\"b",le="0.001"} 2');
  expect(text).toContain('tollgate_x_seconds_bucket{route="/a\\"b",le="0.0025"} 3');
  expect(text).toContain('tollgate_x_seconds_bucket{route="/a\\"b",le="5"} 3');
  expect(text).toContain('tollgate_x_seconds_bucket{route="/a\\"b",le="10"} 4');
  expect(text).toContain('tollgate_x_seconds_bucket{route="/a\\"b",le="+Inf"} 5');
  expect(text).toContain('tollgate_x_seconds_sum{route="/a\\"b"} 70.002');
  expect(text).toContain('tollgate_x_seconds_count{route="/a\\"b"} 5');
  durations.reset();
  expect(await metrics.getSingleMetricAsString('tollgate_x_seconds')).toContain('_count{route="/a\\"b"} 0');
});

test('a gauge that is read shows the current value', async () => {
  const metrics = createMetrics();
  let count = 1;
  addReadGauge(metrics, 'tollgate_x', 'How many.', () => count);
  expect(await metrics.getSingleMetricAsString('tollgate_x')).toContain('tollgate_x 1');
  count = 2;
  expect(await metrics.getSingleMetricAsString('tollgate_x')).toContain('tollgate_x 2');
});

test('the metrics of several processes are one: sums, and the start of the first', async () => {
  const values = await Promise.all(
    [2, 3].map(async (count) => {
      const metrics = createMetrics();
      new Counter({ name: 'tollgate_x_total', help: 'How many.', registers: [metrics] }).inc(count);
      addReadGauge(metrics, 'tollgate_x', 'How many now.', () => count);
      const durations = new DurationHistogram({ name: 'tollgate_x_seconds', help: '', registers: [metrics] });
      for (const status of ['202', '429']) durations.series({ status }).observe(count);
      return metrics.getMetricsAsJSON();
    }),
  );
  const merged = mergeMetrics(values);
  const text = await merged.metrics();
  expect(text).toContain('tollgate_x_total 5');
  expect(text).toContain('tollgate_x 5');
  expect(text).toContain('tollgate_x_seconds_bucket{status="202",le="0.0025"} 1');
  expect(text).toContain('tollgate_x_seconds_count{status="202"} 2');
  expect(text).toContain('tollgate_x_seconds_count{status="429"} 2');
  const started = values[0]?.find(({ name }) => name === 'process_start_time_seconds')?.values[0]?.value;
  expect(text).toContain(`process_start_time_seconds ${started}`);
});

test('the counts of a process that has ended stay, its states do not', async () => {
  const metrics = createMetrics();
  new Counter({ name: 'tollgate_x_total', help: 'How many.', registers: [metrics] }).inc();
  addReadGauge(metrics, 'tollgate_x', 'How many now.', () => 1);
  const names = lastingCounts(await metrics.getMetricsAsJSON()).map(({ name }) => name);
  expect(names).toContain('tollgate_x_total');
  expect(names).not.toContain('tollgate_x');
});
