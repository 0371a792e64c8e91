import { DomainError } from '../kernel/errors.js';

/** As many of one key wait; past it work is refused. */
const WAITING_MAX = 100;

interface Line {
  /** Ends with the last in the line; never rejects. */
  last: Promise<unknown>;
  waiting: number;
}

/**
 * Does work of one key one after the other within this process, work of different keys at once. For what
 * would wait for each other in the database anyway: who waits here holds no connection.
 */
export class OneAtATime {
  readonly #lines = new Map<string, Line>();

  constructor(private readonly waitingMax = WAITING_MAX) {}

  /** @throws DomainError `server_busy` when too much of the key waits; or whatever `work` throws */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    if (line.waiting >= this.waitingMax) throw new DomainError('server_busy');
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
