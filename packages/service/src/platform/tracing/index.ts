import type { Tracing, TracingOptions } from './port.js';

export type { EndedWork, PartSpan, RequestSpan, TracedRequest, TraceFields, Tracing } from './port.js';

/** Returns undefined without a collector; then nothing of the SDK is loaded. */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  if (!options.isOn) return undefined;
  const { OtlpTracing } = await import('./otlp.js');
  return new OtlpTracing(options);
}
