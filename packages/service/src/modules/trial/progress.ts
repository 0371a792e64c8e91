/** Is told the number of events done; waited for. */
export type OnProgress = (eventsDone: number) => Promise<void>;

/** Interval of reports within a page. */
const INTERVAL_MS = 250;

/** Reports how far a backtest is, and stops it once its signal is aborted. */
export class Progress {
  readonly #signal: AbortSignal;
  readonly #report: () => Promise<void>;
  #toldMs = performance.now();

  constructor(signal: AbortSignal, report: () => Promise<void>) {
    this.#signal = signal;
    this.#report = report;
  }

  /** Whether the latest report was some time ago. */
  get isDue(): boolean {
    return performance.now() - this.#toldMs >= INTERVAL_MS;
  }

  /** @throws the signal's reason once that is aborted */
  async tell(): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#report();
    this.#signal.throwIfAborted();
    this.#toldMs = performance.now();
  }
}
