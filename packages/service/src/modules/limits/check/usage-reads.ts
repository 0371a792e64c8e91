import { present } from '../../../kernel/present.js';
import { ChangeFeed, type ChangeMemory } from '../../../platform/changes/index.js';
import type { Postgres, Tx } from '../../../platform/postgres/index.js';
import type { MeasuredQueue } from './group-metrics.js';
import { answered, Groups, TOGETHER } from './groups.js';
import { readUsage, readUsageIn, type UsageQuery, type UsageRead } from './limit-status-store.js';
import { type AskedPart, RememberedUsage } from './remembered-usage.js';

/** Upper bound of the age of an answer, in milliseconds. */
export const USAGE_FRESH_MS = 250;
/** The share of that time after which changes are read again. */
const LOOK_AFTER_SHARE = 0.4;
/**
 * Windows and wallets that one statement reads again. Making the statement and taking its rows takes a millisecond or
 * so, for which checks wait; smaller statements cost the database more in all.
 */
const READ_AGAIN_STEP = 250;
/** Reading changes takes as much time as a few reads of usage; it is not worth it for fewer. */
const READS_PER_LOOK_MIN = 5;

/** How a process remembers what it has read. */
export interface MemoryOptions {
  /** Upper bound of the age of an answer, in milliseconds: it contains all that was committed before. */
  readonly freshMs: number;
  readonly log: { warn(details: object, message: string): void };
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number;
}

export interface UsageReadsDeps {
  readonly postgres: Pick<Postgres, 'db' | 'pool'>;
  /** Undefined to read each answer from the database. */
  readonly memory?: MemoryOptions;
}

/** Reads the use of windows and wallets, from memory where it is known to be current. */
export class UsageReads {
  /**
   * Requests that arrive while a statement runs share the next one: the more there are at once, the less each costs.
   */
  readonly #groups: Groups<UsageQuery, UsageRead>;
  readonly #memory: UsageMemory | undefined;
  readonly #answerCounts = { memory: 0, database: 0 };

  constructor({ postgres, memory }: UsageReadsDeps) {
    this.#groups = new Groups(async (queries) => answered(await readUsage(postgres, queries)));
    this.#memory = memory && new UsageMemory(postgres, memory);
  }

  /** The queue of reads that wait for the database. */
  get queue(): MeasuredQueue {
    return this.#groups;
  }

  /** How many reads were answered from memory and from the database, since the process started. */
  get answerCounts(): Readonly<Record<'memory' | 'database', number>> {
    return this.#answerCounts;
  }

  /**
   * Returns the use as of one moment, at most `freshMs` ago, with all changes that this process has been told of.
   *
   * @throws DomainError `server_busy`
   */
  async read(query: UsageQuery, tenantId: string): Promise<UsageRead> {
    const known = this.#memory?.recall(query);
    if (known !== undefined) {
      this.#answerCounts.memory += 1;
      return known;
    }
    const keep = this.#memory?.keeper();
    this.#answerCounts.database += 1;
    const read = await this.#groups.run(TOGETHER, query, tenantId);
    keep?.(query, read);
    return read;
  }

  /** Makes changes of a project by this process visible here at once. Call it after they are committed. */
  forget(projectId: string): void {
    this.#memory?.forget(projectId);
  }
}

/** Remembers usage, learns what has changed, and reads what is asked for often again. */
class UsageMemory implements ChangeMemory {
  readonly #remembered = new RememberedUsage();
  readonly #feed: ChangeFeed;
  readonly #freshMs: number;
  readonly #monotonicMs: () => number;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #readsSinceLook = 0;

  constructor(
    postgres: UsageReadsDeps['postgres'],
    { freshMs, log, monotonicMs = () => performance.now() }: MemoryOptions,
  ) {
    this.#freshMs = freshMs;
    this.#monotonicMs = monotonicMs;
    this.#feed = new ChangeFeed({ postgres, log, monotonicMs, memory: this });
  }

  /** Returns what is remembered, if all changes until `freshMs` ago are known. */
  recall(query: UsageQuery): UsageRead | undefined {
    this.#lookIfDue();
    return this.#feed.ageMs <= this.#freshMs ? this.#remembered.recall(query) : undefined;
  }

  /** Returns a function that keeps what a read returns; call this before the read. */
  keeper(): (query: UsageQuery, read: UsageRead) => void {
    const mark = this.mark();
    return (query, read) => this.#remembered.keep(query, read, mark);
  }

  mark(): number {
    return this.#remembered.mark();
  }

  /** Reads changed windows and wallets again. Meanwhile, answers show the moment of the look before this one. */
  async learn(keys: readonly number[] | undefined, mark: number, tx: Tx): Promise<void> {
    const asked = keys === undefined ? [] : this.#remembered.askedOf(keys);
    const again: (readonly [AskedPart, UsageRead])[] = [];
    // All statements read the snapshot of the transaction.
    for (let at = 0; at < asked.length; at += READ_AGAIN_STEP) {
      const parts = asked.slice(at, at + READ_AGAIN_STEP);
      const reads = await readUsageIn(
        tx,
        parts.map(({ query }) => query),
      );
      for (const [index, part] of parts.entries()) again.push([part, present(reads[index], 'a read')]);
    }
    this.#remembered.learn(keys, mark, again);
  }

  forget(projectId: string): void {
    this.#remembered.forget(projectId);
  }

  #lookIfDue(): void {
    this.#readsSinceLook += 1;
    if (this.#readsSinceLook < READS_PER_LOOK_MIN) return;
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#lookedAtMs < this.#freshMs * LOOK_AFTER_SHARE) return;
    this.#lookedAtMs = nowMs;
    this.#readsSinceLook = 0;
    void this.#feed.look();
  }
}
