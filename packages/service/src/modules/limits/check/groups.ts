import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../../kernel/errors.js';
import { KeyCounts } from '../../../kernel/key-counts.js';
import { tenantShare } from '../../../kernel/tenant-share.js';

/** The result of one item of a group: an answer or an error. */
export type GroupResult<Answer> = { readonly answer: Answer } | { readonly error: unknown };

/** The end of the work on a group. */
export interface GroupEnd<Answer, Left = undefined> {
  /** The result of each item, in the order of the items. */
  readonly results: readonly GroupResult<Answer>[];
  /** Passed to the next group of the same key. */
  readonly left: Left;
}

/** The end of the group before, if it has not ended yet: what it has left, or undefined when its work has failed. */
export type GroupBefore<Left> = Promise<Left | undefined> | undefined;

/** Returns answers, none of which is an error, as the results of a group. */
export function answered<Answer>(answers: readonly Answer[]): GroupEnd<Answer> {
  return { results: answers.map((answer) => ({ answer })), left: undefined };
}

/** The key of groups in which all items share statements, whatever they are about. */
export const TOGETHER = '';

export interface GroupOptions {
  /** Upper bound of the items that wait in the process, of which a tenant has a share; an item above it is refused. */
  readonly waitingMax?: number;
  /** Upper bound of the items in one group. */
  readonly groupMax?: number;
  /**
   * Lets the work on a group begin before the group before it has ended, if enough items wait: half of those that had
   * no answer at the end of the last group. Otherwise waits, after that end, for enough items, and no longer than
   * this: clients that have just got an answer ask again a moment later, and one large group costs less than two small
   * ones. Undefined to begin with any number of items, at the end of the group before.
   */
  readonly gather?: (() => Promise<unknown>) | undefined;
  /** A clock that never goes back; measures how long items wait. */
  readonly monotonicMs?: () => number;
}

const WAITING_MAX = 2_000;
const GROUP_MAX = 200;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly tenantId: string | undefined;
  readonly sinceMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** A group that waits for more items. */
interface Gathering {
  readonly enough: () => number;
  readonly end: () => void;
}

/**
 * Works on the items of one key a group at a time, and on different keys in parallel. Items that arrive while a group
 * is worked on form the next group. So requests for the same rows of the database share a transaction, and waiting
 * items hold no connection. With `gather`, a second group may be prepared while one ends.
 */
export class Groups<Item, Answer, Left = undefined> {
  readonly #work: (items: readonly Item[], before: GroupBefore<Left>) => Promise<GroupEnd<Answer, Left>>;
  /** Contains a key for as long as one of its groups is worked on. */
  readonly #waiting = new Map<string, Waiting<Item, Answer>[]>();
  /** By key. */
  readonly #gathering = new Map<string, Gathering>();
  readonly #options: Required<GroupOptions>;
  /** Items without a result, in the order of arrival. */
  readonly #open = new Set<Waiting<Item, Answer>>();
  readonly #openOfTenants = new KeyCounts();
  #refused = 0;
  #failed = 0;

  /**
   * @param work gets the items in the order of arrival; an error that it throws becomes the result of every item. With
   * `gather`, it must wait for the group before where it depends on that
   */
  constructor(
    work: (items: readonly Item[], before: GroupBefore<Left>) => Promise<GroupEnd<Answer, Left>>,
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

  /**
   * @param tenantId the tenant that the item is for, whose items may not take all room; undefined for no bound
   * @throws DomainError `server_busy` when too many items wait; otherwise the error of the item
   */
  run(key: string, item: Item, tenantId?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#isFullFor(tenantId)) {
        this.#refused += 1;
        throw new DomainError('server_busy');
      }
      const entry = { item, tenantId, sinceMs: this.#options.monotonicMs(), resolve, reject };
      this.#open.add(entry);
      if (tenantId !== undefined) this.#openOfTenants.add(tenantId, 1);
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) {
        waiting.push(entry);
        const gathering = this.#gathering.get(key);
        if (gathering !== undefined && waiting.length >= gathering.enough()) gathering.end();
        return;
      }
      const group = [entry];
      this.#waiting.set(key, group);
      void this.#workOff(key, group);
    });
  }

  #isFullFor(tenantId: string | undefined): boolean {
    const { size } = this.#open;
    const { waitingMax } = this.#options;
    if (size >= waitingMax) return true;
    return tenantId !== undefined && this.#openOfTenants.of(tenantId) >= tenantShare(size, waitingMax);
  }

  #close(entry: Waiting<Item, Answer>): void {
    this.#open.delete(entry);
    if (entry.tenantId !== undefined) this.#openOfTenants.add(entry.tenantId, -1);
  }

  async #workOff(key: string, waiting: Waiting<Item, Answer>[]): Promise<void> {
    let before: GroupBefore<Left>;
    let workedOn = 0;
    let open = 0;
    for (;;) {
      // Requests that arrived together are parsed one after the other: wait one turn, so that they share a group.
      await nextTurn();
      const group = waiting.splice(0, this.#options.groupMax);
      if (group.length === 0) break;
      workedOn += group.length;
      const end = this.#workOn(group, before).finally(() => {
        open = workedOn + waiting.length;
        workedOn -= group.length;
      });
      await before;
      // While half of the clients wait for the database, the other half can ask.
      const enough = () => Math.max(1, Math.ceil(open / 2));
      before = (await this.#isEnoughBefore(end, key, waiting, enough)) ? end : undefined;
    }
    this.#waiting.delete(key);
  }

  /** Waits until enough items wait, or a group has ended and a while after. Returns whether the group may still run. */
  async #isEnoughBefore(
    end: Promise<unknown>,
    key: string,
    waiting: readonly unknown[],
    enough: () => number,
  ): Promise<boolean> {
    const { gather } = this.#options;
    if (gather === undefined) {
      await end;
      return false;
    }
    if (waiting.length >= enough()) return true;
    const isEnough = await new Promise<boolean>((resolve) => {
      this.#gathering.set(key, { enough, end: () => resolve(true) });
      void end.then(gather).then(() => resolve(false));
    });
    this.#gathering.delete(key);
    return isEnough;
  }

  /** Returns what the group has left; undefined when its work has failed. */
  async #workOn(
    group: readonly Waiting<Item, Answer>[],
    before: GroupBefore<Left>,
  ): Promise<Left | undefined> {
    try {
      const { results, left } = await this.#work(
        group.map(({ item }) => item),
        before,
      );
      if (this.#options.gather === undefined) this.#answer(group, results);
      // The next group first sends its statement, so that the database works while this one is answered.
      else setImmediate(() => this.#answer(group, results));
      return left;
    } catch (error) {
      this.#failed += group.length;
      for (const { reject } of group) reject(error);
      for (const entry of group) this.#close(entry);
      return undefined;
    }
  }

  #answer(group: readonly Waiting<Item, Answer>[], results: readonly GroupResult<Answer>[]): void {
    for (const [at, entry] of group.entries()) {
      const result = results[at];
      if (result === undefined) entry.reject(new Error('the group returned no result for an item'));
      else if ('error' in result) entry.reject(result.error);
      else entry.resolve(result.answer);
      this.#close(entry);
    }
  }
}
