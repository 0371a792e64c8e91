import { setTimeout as delay } from 'node:timers/promises';

/** Time and randomness; injected, so that tests control them. */
export interface Timing {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Waits, and returns early without an error when the signal aborts. */
  sleep(durationMs: number, signal: AbortSignal): Promise<void>;
  /** A number from 0 inclusive to 1 exclusive. */
  random(): number;
}

export const systemTiming: Timing = {
  nowMs: () => Date.now(),
  sleep: (durationMs, signal) => delay(durationMs, undefined, { signal }).catch(() => {}),
  random: () => Math.random(),
};
