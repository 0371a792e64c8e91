import type { DomainError } from '../../kernel/errors.js';
import type { Logger } from '../log/index.js';

const OUTAGE_LOG_INTERVAL_MS = 1_000;

/** The fields that are logged about a failed request; a Fastify request has them. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly routeOptions: { readonly url?: string | undefined; readonly bodyLimit: number };
  readonly raw: { readonly readableAborted: boolean };
}

/** Logs failures that the service causes. */
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

  /** Logs an unexpected error. */
  defect(err: unknown, request: FailedRequest): void {
    this.#log.error({ ...placeOf(request), err }, 'internal_error');
  }

  /**
   * Logs that a store is unreachable. Every request then fails for the same reason, so there is one line a second, with
   * the number of other failures.
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
