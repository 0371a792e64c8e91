import { constants } from 'node:os';

/** Thrown when the operator ends a start. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested';
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborts at the first SIGINT or SIGTERM, with a StopRequested; a second one ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort(new StopRequested('Stopped before it was ready.'));
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stop.signal;
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
