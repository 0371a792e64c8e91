import { setTimeout as delay } from 'node:timers/promises';

/**
 * Returns the result of `work`, unless `timeoutMs` pass first. Late work continues unobserved; `onLate` may end it.
 * @param onLate called at most once, when the time has passed
 * @throws the error that `onLate` returns, or the error of `work`
 */
export async function resultWithin<T>(work: Promise<T>, timeoutMs: number, onLate: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(onLate()), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns whether `work` ended within `timeoutMs`; rejects when `work` does within that time. */
export async function endsWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = new Error('late');
  try {
    await resultWithin(work, timeoutMs, () => late);
    return true;
  } catch (error) {
    if (error === late) return false;
    throw error;
  }
}

/**
 * Returns the result of `work`, unless `signal` aborts first or has already aborted. Late work continues unobserved.
 * @throws the reason of the abort, or the error of `work`
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Checks `condition` every `intervalMs` until it holds; returns false when `timeoutMs` have passed. */
export async function holdsWithin(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  intervalMs = 20,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() >= deadline) return false;
    await delay(intervalMs);
  }
  return true;
}
