import type { Timing } from '../clock.js';

/** Time that passes only when a test says so. */
export class ManualTiming implements Timing {
  /** Durations asked for, in order. */
  readonly slept: number[] = [];
  #nowMs = 1_700_000_000_000;
  #sleepers: { readonly wakeMs: number; readonly wake: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  random(): number {
    return 0.5;
  }

  sleep(durationMs: number, signal: AbortSignal): Promise<void> {
    this.slept.push(durationMs);
    return new Promise((resolve) => {
      this.#sleepers.push({ wakeMs: this.#nowMs + durationMs, wake: resolve });
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  advanceMs(durationMs: number): void {
    this.#nowMs += durationMs;
    const due = this.#sleepers.filter((sleeper) => sleeper.wakeMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.wakeMs > this.#nowMs);
    for (const sleeper of due) sleeper.wake();
  }
}

/** Time in which every pause is over at once. */
export class HastyTiming extends ManualTiming {
  override async sleep(durationMs: number): Promise<void> {
    this.slept.push(durationMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
