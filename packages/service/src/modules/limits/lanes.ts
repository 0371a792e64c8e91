import { ApiError } from '../../platform/http/index.js';

/** As many wait in all, in one process; past it a request is refused. */
const WAITING_MAX = 2_000;

/**
 * Does work of one key one after the other, and of different keys at once. What would wait for the same rows of the database
 * waits here instead, where it holds none of the connections that others need.
 */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();
  #waiting = 0;

  constructor(private readonly waitingMax = WAITING_MAX) {}

  /** @throws ApiError `server_busy` when too much waits; or what `work` throws */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.waitingMax) throw new ApiError('server_busy');
    this.#waiting += 1;
    const before = this.#tails.get(key);
    let end = () => {};
    const tail = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#tails.set(key, tail);
    try {
      await before;
      return await work();
    } finally {
      this.#waiting -= 1;
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
      end();
    }
  }
}
