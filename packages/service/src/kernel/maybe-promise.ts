/** A value that may be there at once: the hot path then creates no promise. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` at once, unless `found` is still awaited. */
export function whenReady<T, R>(
  found: MaybePromise<T>,
  next: (found: T) => MaybePromise<R>,
): MaybePromise<R> {
  return found instanceof Promise ? found.then(next) : next(found);
}
