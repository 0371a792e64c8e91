import { onSnapshot, type Postgres, type Tx } from '../postgres/index.js';
import { type KeyChanges, readChanges, readSnapshot } from './change-store.js';

/**
 * A process that has not looked for so long begins anew. It is shorter than the time for which notes are kept, so that
 * none is missed.
 */
const GAP_MS_MAX = 20_000;

/** Remembers something about keys. */
export interface ChangeMemory {
  /** Returns a mark; called before changes are read, and passed to `learn`. */
  mark(): number;
  /**
   * Called with the keys that have changed; with undefined when anything may have changed.
   *
   * @param tx reads the database as it was when the changes were read
   */
  learn(keys: KeyChanges['keys'], mark: number, tx: Tx): Promise<void>;
}

export interface ChangeFeedOptions {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly memory: ChangeMemory;
  readonly log: { warn(details: object, message: string): void };
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number;
}

/** At each look, tells a memory of this process which keys the transactions of any process have changed. */
export class ChangeFeed {
  readonly #options: Required<ChangeFeedOptions>;
  /** The snapshot of the last look; undefined before the first one and after a failure. */
  #snapshot: string | undefined;
  /** When the last look that succeeded began, in monotonic milliseconds. */
  #knownUntilMs = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #looking: Promise<void> | undefined;

  constructor(options: ChangeFeedOptions) {
    this.#options = { monotonicMs: () => performance.now(), ...options };
  }

  /** Time since the last successful look began, in milliseconds; all changes committed before it are known. */
  get ageMs(): number {
    return this.#options.monotonicMs() - this.#knownUntilMs;
  }

  /** Reads the changes since the last look, unless a look is under way. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { postgres, memory, log, monotonicMs } = this.#options;
    // Taken before the read, because the result may be that old when it arrives.
    const beganMs = monotonicMs();
    const mark = memory.mark();
    try {
      const since = beganMs - this.#knownUntilMs > GAP_MS_MAX ? undefined : this.#snapshot;
      this.#snapshot = await onSnapshot(postgres, async (tx) => {
        const { snapshot, keys } =
          since === undefined
            ? { snapshot: await readSnapshot(tx), keys: undefined }
            : await readChanges(tx, since);
        await memory.learn(keys, mark, tx);
        return snapshot;
      });
      this.#knownUntilMs = beganMs;
      this.#hasFailed = false;
    } catch (err) {
      this.#snapshot = undefined;
      this.#knownUntilMs = Number.NEGATIVE_INFINITY;
      // One line for each outage, not one for each look.
      if (!this.#hasFailed)
        log.warn({ err }, 'changes of other processes could not be read; limits are read from the database');
      this.#hasFailed = true;
    }
  }
}
