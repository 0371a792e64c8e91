import { expect, test } from 'vitest';
import { readConfig } from '../config.js';
import { createLog } from '../platform/log/index.js';
import { startTracing } from './tracing.js';

const ENDPOINT = 'http://127.0.0.1:9';

test.each([
  [false, {}],
  [true, { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT }],
  [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${ENDPOINT}/v1/traces`, OTEL_SDK_DISABLED: 'False' }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
])('traces are on: %s, with %o', async (isOn, environment) => {
  const tracing = await startTracing(readConfig(environment), 'api', createLog({ level: 'silent' }));
  expect(tracing !== undefined).toBe(isOn);
  await tracing?.close();
});

test('an endpoint that is not a URL of HTTP is refused', () => {
  expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' })).toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http:// or https://.',
  );
});
