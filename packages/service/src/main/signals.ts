import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Thrown when the operator ends a start. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested';
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Emits signals, as `process` does, and ends the process. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/**
 * The signals that stop the service. The first one asks it to stop, the next one ends a drain, and any other ends the
 * process at once.
 */
export class StopSignals {
  readonly #source: SignalSource;
  readonly #stop = new AbortController();
  #first: NodeJS.Signals | undefined;
  /** Ends the drain; undefined while there is none. */
  #drain: AbortController | undefined;

  constructor(source: SignalSource = process) {
    this.#source = source;
    for (const signal of SIGNALS) source.on(signal, () => this.#receive(signal));
  }

  /** Aborts at the first signal, with a StopRequested. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the first signal was SIGTERM, as supervisors send it. SIGINT is Ctrl-C at a terminal. */
  get isFromSupervisor(): boolean {
    return this.#first === 'SIGTERM';
  }

  /** Waits until the drain is over: after `ms`, or at the next signal. */
  async drained(ms: number): Promise<void> {
    const drain = new AbortController();
    this.#drain = drain;
    await delay(ms, undefined, { signal: drain.signal }).catch(() => {});
    this.#drain = undefined;
  }

  #receive(signal: NodeJS.Signals): void {
    if (this.#first === undefined) {
      this.#first = signal;
      this.#stop.abort(new StopRequested('Stopped before it was ready.'));
    } else if (this.#drain !== undefined) this.#drain.abort();
    else this.#source.exit(1);
  }
}

/**
 * For commands that can be interrupted anywhere: ends the process in the ordinary way, so that the embedded PostgreSQL
 * ends with it, which a signal without a listener would leave behind.
 */
export function exitOnSignal(): void {
  for (const signal of SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
