import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../../kernel/errors.js';

/** What becomes of one item of a group. */
export type GroupResult<Answer> = { readonly answer: Answer } | { readonly error: unknown };

export interface GroupOptions {
  /** As many wait in all, in one process; past it an item is refused. */
  readonly waitingMax?: number;
  /** As many go together. */
  readonly groupMax?: number;
  /** A clock that never goes back; for how long items wait. */
  readonly monotonicMs?: () => number;
}

const WAITING_MAX = 2_000;
const GROUP_MAX = 200;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly sinceMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does work of one key a group at a time, and of different keys at once: while a group is worked on, what
 * comes waits for the next, which takes all of it. So what meets in the same rows of the database shares a
 * transaction, and what waits holds no connection.
 */
export class Groups<Item, Answer> {
  /** Has a key for as long as a group of it is worked on. */
  readonly #waiting = new Map<string, Waiting<Item, Answer>[]>();
  readonly #options: Required<GroupOptions>;
  /** All that is not answered, in the order of arrival. */
  readonly #open = new Set<Waiting<Item, Answer>>();
  #refused = 0;
  #failed = 0;

  /**
   * @param work what becomes of each item, in their order, which is that of their arrival; when it throws,
   * that becomes of all
   */
  constructor(
    private readonly work: (items: readonly Item[]) => Promise<readonly GroupResult<Answer>[]>,
    options: GroupOptions = {},
  ) {
    this.#options = {
      waitingMax: WAITING_MAX,
      groupMax: GROUP_MAX,
      monotonicMs: () => performance.now(),
      ...options,
    };
  }

  /** Items that are not answered yet. */
  get depth(): number {
    return this.#open.size;
  }

  /** How long the oldest of them has waited. */
  get oldestAgeMs(): number {
    const [oldest] = this.#open;
    return oldest === undefined ? 0 : this.#options.monotonicMs() - oldest.sinceMs;
  }

  /** Items that were refused because too many waited. */
  get refusedCount(): number {
    return this.#refused;
  }

  /** Items whose whole group failed. */
  get failedCount(): number {
    return this.#failed;
  }

  /** @throws DomainError `server_busy` when too much waits; or what became of the item */
  run(key: string, item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#open.size >= this.#options.waitingMax) {
        this.#refused += 1;
        throw new DomainError('server_busy');
      }
      const entry = { item, sinceMs: this.#options.monotonicMs(), resolve, reject };
      this.#open.add(entry);
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) {
        waiting.push(entry);
        return;
      }
      const group = [entry];
      this.#waiting.set(key, group);
      void this.#workOff(key, group);
    });
  }

  async #workOff(key: string, waiting: Waiting<Item, Answer>[]): Promise<void> {
    while (waiting.length > 0) {
      // Requests that have arrived together are read one after the other: they are to go together, too.
      await nextTurn();
      await this.#workOn(waiting.splice(0, this.#options.groupMax));
    }
    this.#waiting.delete(key);
  }

  async #workOn(group: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const outcomes = await this.work(group.map(({ item }) => item));
      for (const [at, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[at];
        if (outcome === undefined) reject(new Error('an item of a group was forgotten'));
        else if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.answer);
      }
    } catch (error) {
      this.#failed += group.length;
      for (const { reject } of group) reject(error);
    } finally {
      for (const entry of group) this.#open.delete(entry);
    }
  }
}
