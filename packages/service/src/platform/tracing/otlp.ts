import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions';
import { endsWithin } from '../wait.js';
import { ExportLog } from './export-log.js';
import type { EndedWork, PartSpan, RequestSpan, TracedRequest, Tracing, TracingOptions } from './port.js';

const NAME = 'tollgate';
/** How long the end of the process waits for the collector. */
const CLOSE_MS_MAX = 1_000;

const propagator = new W3CTraceContextPropagator();

/** Traces by the SDK of OpenTelemetry, which reads its settings from `OTEL_…` variables. */
export class OtlpTracing implements Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;

  constructor({ version, role, log }: Omit<TracingOptions, 'isOn'>) {
    diag.setLogger(new ExportLog(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    this.#provider = new BasicTracerProvider({
      resource: resourceOf(version, role),
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
    this.#tracer = this.#provider.getTracer(NAME, version);
  }

  beginRequest({ method, route, requestId, fields }: TracedRequest): RequestSpan | undefined {
    const parent = propagator.extract(ROOT_CONTEXT, fields, defaultTextMapGetter);
    const attributes = {
      [ATTR_HTTP_REQUEST_METHOD]: method,
      [ATTR_HTTP_ROUTE]: route,
      'tollgate.request.id': requestId,
    };
    const span = this.#tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    return span.isRecording() ? new OtlpRequestSpan(this.#tracer, span) : undefined;
  }

  record(name: string, { durationMs, stages, counts, errorType }: EndedWork): void {
    const endMs = Date.now();
    let atMs = endMs - durationMs;
    const attributes = Object.fromEntries(
      Object.entries(counts).map(([key, count]) => [`tollgate.${key}`, count]),
    );
    const root = this.#tracer.startSpan(name, { startTime: atMs, attributes }, ROOT_CONTEXT);
    if (!root.isRecording()) return;
    const context = contextOf(root);
    for (const { stage, durationMs: stageMs } of stages) {
      const child = this.#tracer.startSpan(stage, { startTime: atMs }, context);
      atMs += stageMs;
      child.end(atMs);
    }
    if (errorType !== undefined) fail(root, errorType);
    root.end(endMs);
  }

  async close(): Promise<void> {
    // A failure was logged, and nothing can be done about it any more.
    await endsWithin(this.#provider.shutdown(), CLOSE_MS_MAX).catch(() => {});
  }
}

class OtlpRequestSpan implements RequestSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
    this.#context = contextOf(span);
  }

  get traceparent(): string {
    const carrier: { traceparent?: string } = {};
    propagator.inject(this.#context, carrier, defaultTextMapSetter);
    return carrier.traceparent ?? '';
  }

  begin(name: string): PartSpan {
    return this.#tracer.startSpan(name, {}, this.#context);
  }

  end(status: number): void {
    this.#span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
    // A server span fails only if the server is at fault.
    if (status >= 500) fail(this.#span, String(status));
    this.#span.end();
  }
}

/** The attributes of this process. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` take precedence. */
function resourceOf(version: string, role: string): Resource {
  const own = resourceFromAttributes({
    [ATTR_SERVICE_NAME]: NAME,
    [ATTR_SERVICE_VERSION]: version,
    [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    'tollgate.role': role,
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

function contextOf(span: Span): Context {
  return trace.setSpan(ROOT_CONTEXT, span);
}

function fail(span: Span, errorType: string): void {
  span.setAttribute(ATTR_ERROR_TYPE, errorType).setStatus({ code: SpanStatusCode.ERROR });
}
