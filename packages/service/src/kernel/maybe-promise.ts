/** A value that may be available without waiting, so that the hot path creates no promise. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value, at once or when the promise resolves. */
export function whenReady<T, R>(
  found: MaybePromise<T>,
  next: (found: T) => MaybePromise<R>,
): MaybePromise<R> {
  return found instanceof Promise ? found.then(next) : next(found);
}
