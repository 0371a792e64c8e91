import type { DomainError } from '../../kernel/errors.js';
import type { Logger } from '../log/index.js';

const OUTAGE_LOG_INTERVAL_MS = 1_000;

/** The facts that are logged about a request that failed; a Fastify request has them. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly routeOptions: { readonly url?: string | undefined; readonly bodyLimit: number };
  readonly raw: { readonly readableAborted: boolean };
}

/** Writes down the failures that are ours. */
export class FailureLog {
  readonly #log: Pick<Logger, 'error' | 'warn'>;
  readonly #monotonicMs: () => number;
  #nextOutageMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  /** @param monotonicMs a clock that never goes back */
  constructor(log: Pick<Logger, 'error' | 'warn'>, monotonicMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  /** Nobody foresaw it. */
  defect(err: unknown, request: FailedRequest): void {
    this.#log.error({ ...placeOf(request), err }, 'internal_error');
  }

  /**
   * While a store is away, every request fails for the same reason: one line a second says so, and how many others
   * failed.
   */
  outage({ code, cause }: DomainError, request: FailedRequest): void {
    const nowMs = this.#monotonicMs();
    if (nowMs < this.#nextOutageMs) {
      this.#unlogged += 1;
      return;
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#log.warn({ ...placeOf(request), reason, unlogged: this.#unlogged }, code);
    this.#nextOutageMs = nowMs + OUTAGE_LOG_INTERVAL_MS;
    this.#unlogged = 0;
  }
}

function placeOf(request: FailedRequest) {
  return { requestId: request.id, method: request.method, route: request.routeOptions.url };
}
