import type { Logger } from '../log/index.js';

/** The fields of a request that continue the trace of its client (W3C Trace Context). */
export interface TraceFields {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** A request as its span begins. */
export interface TracedRequest {
  readonly method: string;
  /** The pattern of the route; the path may contain ids. */
  readonly route: string;
  readonly requestId: string;
  readonly fields: TraceFields;
}

/** A part of a request in its trace. */
export interface PartSpan {
  end(): void;
}

/** The span of a request that is sampled. End it once. */
export interface RequestSpan {
  /** The value with which another service continues this trace. */
  readonly traceparent: string;
  begin(name: string): PartSpan;
  end(status: number): void;
}

/** Work that ends now, with its stages: one after the other from its start. */
export interface EndedWork {
  readonly durationMs: number;
  readonly stages: readonly { readonly stage: string; readonly durationMs: number }[];
  readonly counts: Readonly<Record<string, number>>;
  /** The name of the error with which the work failed; undefined if it succeeded. */
  readonly errorType?: string | undefined;
}

/** Sends spans to the collector. No method throws or waits, except `close`. */
export interface Tracing {
  /** Returns undefined if the request is not sampled: then nothing of it is recorded. */
  beginRequest(request: TracedRequest): RequestSpan | undefined;
  /** Records a trace of work that no request waits for: a root span, and a child span for each stage. */
  record(name: string, work: EndedWork): void;
  /** Sends the spans that wait, within a second. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** Whether the environment names a collector; its URL and the other settings are read by the SDK. */
  readonly isOn: boolean;
  readonly version: string;
  /** The part of the service that this process is, such as `api,worker`. */
  readonly role: string;
  readonly log: Pick<Logger, 'warn'>;
}
