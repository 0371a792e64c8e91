import type { Timing } from '../clock.js';

/** A clock whose time passes only when a test says so. */
export class ManualTiming implements Timing {
  /** Durations of the pauses, in order. */
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

/** A clock for which every pause is over at once. */
export class HastyTiming extends ManualTiming {
  override async sleep(durationMs: number): Promise<void> {
    this.slept.push(durationMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
