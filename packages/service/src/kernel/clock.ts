/** The source of time; injected, so that tests control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #currentMs: number;

  constructor(currentMs: number) {
    this.#currentMs = currentMs;
  }

  nowMs(): number {
    return this.#currentMs;
  }

  advanceMs(deltaMs: number): void {
    this.#currentMs += deltaMs;
  }
}

/** Returns whole seconds since the Unix epoch. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000);
}
