import { DomainError } from '../kernel/errors.js';

/** Upper bound of the waiting calls of one key; more are refused. */
const WAITING_MAX = 100;

interface Line {
  /** Settles with the last call in the line; never rejects. */
  last: Promise<unknown>;
  waiting: number;
}

/**
 * Runs work of one key one after the other within this process, and work of different keys in parallel. Meant for work
 * that would wait in the database anyway: while it waits here, it holds no connection.
 */
export class OneAtATime {
  readonly #waitingMax: number;
  readonly #lines = new Map<string, Line>();

  constructor(waitingMax: number = WAITING_MAX) {
    this.#waitingMax = waitingMax;
  }

  /** @throws DomainError `server_busy` when too many calls of the key wait; or the error of `work` */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    if (line.waiting >= this.#waitingMax) throw new DomainError('server_busy');
    this.#lines.set(key, line);
    line.waiting += 1;
    const done = line.last.then(work);
    line.last = done.catch(() => {});
    try {
      return await done;
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) this.#lines.delete(key);
    }
  }
}
