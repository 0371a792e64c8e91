import { expect, test } from 'vitest';
import { addReadGauge, createMetrics, DurationHistogram } from './index.js';

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
