import { type Responder, startReceiver } from './receiver.js';

/** A span as a collector gets it, with its attributes and those of its process. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for the root of a trace. */
  readonly parentSpanId: string | undefined;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly hasFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly process: Readonly<Record<string, unknown>>;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** `STATUS_CODE_ERROR` of OTLP. */
const FAILED = 2;

/** A collector of OpenTelemetry on this machine, which keeps what it receives. */
export interface Collector {
  /** Its URL for the environment of a service. */
  readonly url: string;
  /** The number of requests that it has received. */
  readonly requests: number;
  /** Everything that it has received, as text. */
  text(): string;
  spans(): CollectedSpan[];
  close(): Promise<void>;
}

/** @param answer how it responds to each export; default: with success */
export async function startCollector(answer: Responder = () => 200): Promise<Collector> {
  const receiver = await startReceiver(answer);
  const bodies = () => receiver.received.filter(({ path }) => path === '/v1/traces').map(({ body }) => body);
  return {
    url: `http://127.0.0.1:${receiver.port}`,
    get requests() {
      return receiver.received.length;
    },
    text: () => bodies().join('\n'),
    spans: () => bodies().flatMap((body) => spansOf(JSON.parse(body) as OtlpRequest)),
    close: () => receiver.close(),
  };
}

function spansOf({ resourceSpans }: OtlpRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        hasFailed: span.status.code === FAILED,
        attributes: valuesOf(span.attributes),
        process: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
