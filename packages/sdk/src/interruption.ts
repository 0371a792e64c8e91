/**
 * Ends a request that takes too long, or whose caller aborts it. The signal alone is not enough for that: after a
 * garbage collection, the `fetch` of Node.js forgets the signal of a response whose body is still being read.
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #abort = () => this.#controller.abort(this.caller?.reason);

  constructor(
    timeoutMs: number,
    readonly caller: AbortSignal | undefined,
  ) {
    this.#timer = setTimeout(() => this.#controller.abort(new Error('timeout')), timeoutMs);
    if (caller?.aborted === true) this.#abort();
    caller?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on, only the caller can end the request. */
  endTimeout(): void {
    clearTimeout(this.#timer);
  }

  /** The request is over. */
  release(): void {
    this.endTimeout();
    this.caller?.removeEventListener('abort', this.#abort);
  }

  /** Returns what the promise does, but rejects at once when the request is ended. */
  guard<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      const settled = () => signal.removeEventListener('abort', abort);
      promise.finally(settled).then(resolve, reject);
    });
  }
}
