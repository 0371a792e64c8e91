/** Lets a loop sleep until there is something to do, a time has passed or the service stops. */
export class Wakeup {
  #pending = false;
  #wake: (() => void) | undefined;

  /** Ends the current wait, or makes the next one return at once. */
  notify(): void {
    this.#pending = true;
    this.#wake?.();
  }

  /** Resolves with true on `notify`, with false after `timeoutMs` or when `signal` aborts; never rejects. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#pending && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', finish);
          this.#wake = undefined;
          resolve();
        };
        const timer = setTimeout(finish, timeoutMs);
        signal.addEventListener('abort', finish, { once: true });
        this.#wake = finish;
      });
    }
    const isNotified = this.#pending;
    this.#pending = false;
    return isNotified;
  }
}

/** Resolves after `timeoutMs` or when `signal` aborts; never rejects. */
export async function pause(timeoutMs: number, signal: AbortSignal): Promise<void> {
  await new Wakeup().wait(timeoutMs, signal);
}

export interface RepeatOptions {
  /** Pause from the end of one round to the beginning of the next. */
  readonly pollMs: number;
  readonly onFailure: (error: unknown) => void;
  /** Starts the next round at once, unless the last one failed. */
  readonly wakeup?: Wakeup;
  /** Pause after a failure; by default it grows with each failure. */
  readonly failurePauseMs?: (failures: number) => number;
}

/** Repeats rounds of work until `signal` aborts; never rejects. */
export async function repeat(
  work: () => Promise<unknown>,
  signal: AbortSignal,
  { pollMs, onFailure, wakeup = new Wakeup(), failurePauseMs = retryPauseMs }: RepeatOptions,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await work();
      failures = 0;
      await wakeup.wait(pollMs, signal);
    } catch (error) {
      onFailure(error);
      await pause(failurePauseMs(++failures), signal);
    }
  }
}

const RETRY_PAUSE_FIRST_MS = 50;
const RETRY_PAUSE_LAST_MS = 5_000;

/** Returns how long to wait after the n-th failure in a row, counted from 1. */
export function retryPauseMs(failures: number): number {
  return Math.min(RETRY_PAUSE_FIRST_MS * 2 ** (failures - 1), RETRY_PAUSE_LAST_MS);
}
