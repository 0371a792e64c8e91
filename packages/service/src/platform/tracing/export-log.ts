import type { DiagLogger } from '@opentelemetry/api';
import type { Logger } from '../log/index.js';

/** Interval between two lines: while a collector is away, each export fails for the same reason. */
const LOG_INTERVAL_MS = 60_000;

/** Logs what the SDK reports: at most one line a minute, with the number of reports that were not logged. */
export class ExportLog implements DiagLogger {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #monotonicMs: () => number;
  #nextMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  /** @param monotonicMs a clock that never goes back */
  constructor(log: Pick<Logger, 'warn'>, monotonicMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  error(message: string): void {
    this.warn(message);
  }

  warn(message: string): void {
    const nowMs = this.#monotonicMs();
    if (nowMs < this.#nextMs) {
      this.#unlogged += 1;
      return;
    }
    this.#log.warn({ reason: message, unlogged: this.#unlogged }, 'traces are incomplete');
    this.#nextMs = nowMs + LOG_INTERVAL_MS;
    this.#unlogged = 0;
  }

  info(): void {}
  debug(): void {}
  verbose(): void {}
}
