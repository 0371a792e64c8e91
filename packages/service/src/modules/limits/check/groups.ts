import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../../kernel/errors.js';

/** The result of one item of a group: an answer or an error. */
export type GroupResult<Answer> = { readonly answer: Answer } | { readonly error: unknown };

/** Returns answers, none of which is an error, as the results of a group. */
export function answered<Answer>(answers: readonly Answer[]): GroupResult<Answer>[] {
  return answers.map((answer) => ({ answer }));
}

/** The key of groups in which all items share statements, whatever they are about. */
export const TOGETHER = '';

export interface GroupOptions {
  /** Upper bound of the items that wait in the process; an item above it is refused. */
  readonly waitingMax?: number;
  /** Upper bound of the items in one group. */
  readonly groupMax?: number;
  /**
   * Waits before a group that is smaller than the one before it. Clients that have just got an answer ask again a
   * moment later, and one large group costs less than two small ones. Undefined to wait for nobody.
   */
  readonly gather?: (() => Promise<unknown>) | undefined;
  /** A clock that never goes back; measures how long items wait. */
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
 * Works on the items of one key a group at a time, and on different keys in parallel. Items that arrive while a group
 * is worked on form the next group. So requests for the same rows of the database share a transaction, and waiting
 * items hold no connection.
 */
export class Groups<Item, Answer> {
  readonly #work: (items: readonly Item[]) => Promise<readonly GroupResult<Answer>[]>;
  /** Contains a key for as long as one of its groups is worked on. */
  readonly #waiting = new Map<string, Waiting<Item, Answer>[]>();
  readonly #options: Required<GroupOptions>;
  /** Items without a result, in the order of arrival. */
  readonly #open = new Set<Waiting<Item, Answer>>();
  #refused = 0;
  #failed = 0;

  /**
   * @param work returns the result of each item, in the order of the items, which is the order of arrival; an error
   * that it throws becomes the result of every item
   */
  constructor(
    work: (items: readonly Item[]) => Promise<readonly GroupResult<Answer>[]>,
    options: GroupOptions = {},
  ) {
    this.#work = work;
    this.#options = {
      waitingMax: WAITING_MAX,
      groupMax: GROUP_MAX,
      gather: undefined,
      monotonicMs: () => performance.now(),
      ...options,
    };
  }

  /** Number of items without a result. */
  get depth(): number {
    return this.#open.size;
  }

  /** How long the oldest of these items has waited. */
  get oldestAgeMs(): number {
    const [oldest] = this.#open;
    const nowMs = this.#options.monotonicMs();
    return nowMs - (oldest?.sinceMs ?? nowMs);
  }

  /** Number of items that were refused because too many waited. */
  get refusedCount(): number {
    return this.#refused;
  }

  /** Number of items whose whole group failed. */
  get failedCount(): number {
    return this.#failed;
  }

  /** @throws DomainError `server_busy` when too many items wait; otherwise the error of the item */
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
    let before = 0;
    while (waiting.length > 0) {
      // Requests that arrived together are parsed one after the other: wait one turn, so that they share a group.
      await nextTurn();
      if (waiting.length < before) await this.#options.gather?.();
      const group = waiting.splice(0, this.#options.groupMax);
      before = group.length;
      await this.#workOn(group);
    }
    this.#waiting.delete(key);
  }

  async #workOn(group: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const outcomes = await this.#work(group.map(({ item }) => item));
      for (const [at, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[at];
        if (outcome === undefined) reject(new Error('the group returned no result for an item'));
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
