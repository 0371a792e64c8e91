import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { pause, Wakeup } from '../../platform/wakeup.js';
import { SHARED_TABLES, type StorageTables, storageTables } from '../storage/index.js';
import type { BatchLocation } from './batch-store.js';
import { spoolFileBytes } from './spool.js';

/**
 * The next group of a storage starts no sooner than `intervalMs` after the start of a group of fewer than `events`
 * events.
 */
interface Pace {
  readonly events: number;
  readonly intervalMs: number;
}

/**
 * An insert costs as much as about 3,000 rows before its first row, and creates parts that must be merged. An event
 * waits for one interval and one insert at most, which leaves half of the second in which it should be queryable to the
 * stages before. Below half of the full load groups have the smaller size; near the full load inserts are fewer and
 * larger. A backlog fills still larger groups, which are not delayed. Each number of events is well above what arrives
 * in its interval: otherwise each group after the interval would be followed at once by a small one of what arrived
 * meanwhile.
 */
const CALM: readonly Pace[] = [
  { events: 5_000, intervalMs: 250 },
  { events: 10_000, intervalMs: 400 },
];
/**
 * While little of the processors is left, fewer inserts leave more to everything else, for example to a correction. An
 * event still is in the history within about a second.
 */
const CROWDED: readonly Pace[] = [{ events: 30_000, intervalMs: 500 }];
/** Half of the full load uses less of the processors than this. */
const CROWDED_SHARE = 0.75;
/**
 * When single events keep the thread busy that accepts them, inserts can wait: a third of the inserts takes half the
 * time.
 */
const BUSY: readonly Pace[] = [{ events: 30_000, intervalMs: 1_200 }];
/** Batches at the full load use less of the thread than this, on average. */
const BUSY_SHARE = 0.6;
/** A few consecutive batches keep the thread busy for some tenths of a second at any load. */
export const SHARE_WINDOW_MS = 5_000;

/**
 * Corrections write several thousand rows at a time, as fast as they can. As long as no other rows of the storage wait,
 * a group of them follows another one so late: at 250 ms, half of the processor time of inserts and merges would be the
 * cost of an insert before its first row. They wait no longer than other rows on a busy thread.
 */
const CORRECTIONS_INTERVAL_MS = 1_200;
/** Meanwhile rows of new events, which do not wait for this, are looked for. */
const CORRECTIONS_LOOK_MS = 100;

/** How soon one group may follow another. */
export class GroupPace {
  readonly #useOfThread: () => number;
  readonly #useOfProcessors: () => number;

  /**
   * @param useOfThread share of the last window in which this thread was busy
   * @param useOfProcessors share of the processors that this process used in the last window
   */
  constructor(
    useOfThread: () => number = measureShare(threadMs),
    useOfProcessors: () => number = measureShare(processMs),
  ) {
    this.#useOfThread = useOfThread;
    this.#useOfProcessors = useOfProcessors;
  }

  /** Returns how long after the start of a group of `events` events the next one of its storage may start. */
  intervalMs(events: number): number {
    const isCrowded = this.#useOfProcessors() > CROWDED_SHARE;
    const paces = this.#useOfThread() > BUSY_SHARE ? BUSY : isCrowded ? CROWDED : CALM;
    return paces.find((pace) => events < pace.events)?.intervalMs ?? 0;
  }
}

/** Returns for how long this thread has been busy. */
export function threadMs(): number {
  return performance.eventLoopUtilization().active;
}

function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 / availableParallelism();
}

/**
 * Returns a function that returns the busy share of the last window; 0 before the first window has ended. A window ends
 * with the first call after its time.
 *
 * @param busyMs returns the busy time until now
 */
export function measureShare(busyMs: () => number, nowMs = () => performance.now()): () => number {
  let start = { atMs: nowMs(), busyMs: busyMs() };
  let share = 0;
  return () => {
    const atMs = nowMs();
    if (atMs - start.atMs < SHARE_WINDOW_MS) return share;
    const end = { atMs, busyMs: busyMs() };
    share = (end.busyMs - start.busyMs) / (end.atMs - start.atMs);
    start = end;
    return share;
  };
}

/** Where rows go: the number of a project that has tables of its own, or null for the shared tables. */
export type RowStorage = number | null;

/**
 * Takes turns between storages that have rows waiting, so that none waits for another's backlog. Each can be paused.
 */
export class StorageTurns {
  readonly #notBeforeMs = new Map<RowStorage, number>();
  /** The same for groups of nothing but rows of corrections. */
  readonly #correctionsNotBeforeMs = new Map<RowStorage, number>();
  #last = Number.NEGATIVE_INFINITY;

  /** Returns the storage whose turn it is among those that need not wait; undefined when all must. */
  next(waiting: readonly RowStorage[], nowMs: number): { readonly storage: RowStorage } | undefined {
    const due = waiting.filter((storage) => this.#waitMs(storage, nowMs) === 0);
    due.sort((a, b) => placeOf(a) - placeOf(b));
    const storage = due.find((candidate) => placeOf(candidate) > this.#last) ?? due[0];
    if (storage === undefined) return undefined;
    this.#last = placeOf(storage);
    return { storage };
  }

  /** Returns how long the first of them must still wait. */
  waitMs(waiting: readonly RowStorage[], nowMs: number): number {
    return Math.min(...waiting.map((storage) => this.#waitMs(storage, nowMs)));
  }

  pause(storage: RowStorage, untilMs: number): void {
    this.#notBeforeMs.set(storage, untilMs);
  }

  /** Notes that a group of the storage has started, after which rows of corrections alone wait for others. */
  began(storage: RowStorage, nowMs: number): void {
    this.#correctionsNotBeforeMs.set(storage, nowMs + CORRECTIONS_INTERVAL_MS);
  }

  /** Pauses storages for which nothing waits but rows of corrections that do not fill a group, for a moment each. */
  holdCorrections(waiting: readonly UnprojectedBatch[], nowMs: number): void {
    for (const storage of this.#correctionsNotBeforeMs.keys()) {
      const waitMs = remainingMs(this.#correctionsNotBeforeMs, storage, nowMs);
      if (waitMs === 0 || this.#waitMs(storage, nowMs) > 0) continue;
      const own = waiting.filter(({ dedicatedTo }) => dedicatedTo === storage);
      if (own.length === 0 || own.some(({ isCorrection }) => !isCorrection)) continue;
      if (chooseGroup(own).length === own.length)
        this.pause(storage, nowMs + Math.min(waitMs, CORRECTIONS_LOOK_MS));
    }
  }

  #waitMs(storage: RowStorage, nowMs: number): number {
    return remainingMs(this.#notBeforeMs, storage, nowMs);
  }
}

/** Returns the time until a storage is due, and forgets it once it is. */
function remainingMs(notBeforeMs: Map<RowStorage, number>, storage: RowStorage, nowMs: number): number {
  const waitMs = (notBeforeMs.get(storage) ?? nowMs) - nowMs;
  if (waitMs > 0) return waitMs;
  notBeforeMs.delete(storage);
  return 0;
}

function placeOf(storage: RowStorage): number {
  return storage ?? -1;
}

/** Time to gather events under light load, because the fixed cost of a tiny batch exceeds that of its events. */
const LINGER_MS = 120;
/** Poll interval of a worker without notifications. */
export const IDLE_POLL_MS = 5_000;

/** Lets the loops of a worker take turns at claiming, each when a claim is worth its transaction. */
export class ClaimTurns {
  readonly #eventsMax: number;
  readonly #lingerMs: number;
  readonly #wakeup = new Wakeup();
  /** Whether segments were found that have waited for a while, so that nothing needs to be gathered. */
  #isWaiting = false;
  /** Resolves when the loop whose turn it is has claimed. */
  #turn = Promise.resolve();
  /** A full claim may have left events behind. */
  #lastClaim: 'full' | 'partial' | 'empty' = 'full';

  /** @param eventsMax the largest number of events that a claim takes */
  constructor(eventsMax: number, lingerMs = LINGER_MS) {
    this.#eventsMax = eventsMax;
    this.#lingerMs = lingerMs;
  }

  /** Ends the wait for segments. */
  notify(news: 'appended' | 'waiting'): void {
    if (news === 'waiting') this.#isWaiting = true;
    this.#wakeup.notify();
  }

  /** Waits until the other loops have claimed; they continue when the returned function is called. */
  async take(): Promise<() => void> {
    const before = this.#turn;
    let endTurn = () => {};
    this.#turn = new Promise((resolve) => {
      endTurn = resolve;
    });
    await before;
    return endTurn;
  }

  /** Waits until a claim is worth its transaction; does not wait when the last claim was full. */
  async gather(signal: AbortSignal): Promise<void> {
    if (this.#lastClaim === 'full') return;
    const isNews = this.#lastClaim === 'partial' || (await this.#wakeup.wait(IDLE_POLL_MS, signal));
    if (isNews && !this.#isWaiting) await pause(this.#lingerMs, signal);
    this.#isWaiting = false;
  }

  /** Notes how many events the last claim took; returns whether it was full, so that more may wait. */
  claimed(events: number): boolean {
    this.#lastClaim = events === 0 ? 'empty' : events * 2 > this.#eventsMax ? 'full' : 'partial';
    return this.#lastClaim === 'full';
  }
}

/** Upper bound of the rows in one block of ClickHouse; the first batch may have any size. */
const GROUP_EVENTS_MAX = 50_000;
const GROUP_BYTES_MAX = 64 * 1_048_576;

/** Returns the tables of the rows of a storage. */
export function tablesOfRows(storage: RowStorage): StorageTables {
  return storage === null ? SHARED_TABLES : storageTables({ storage: 'dedicated', projectNo: storage });
}

/** A batch that waits to be projected, without its rows. */
export interface UnprojectedBatch {
  readonly id: number;
  readonly eventCount: number;
  readonly spoolFile: string | null;
  /** Bytes in the database; 0 for a batch in a file. */
  readonly columnBytes: number;
  readonly dedicatedTo: RowStorage;
  /** Whether a correction has written its rows. */
  readonly isCorrection: boolean;
}

export interface GroupedBatch {
  readonly id: number;
  readonly eventCount: number;
  /** When the oldest of its events was received. */
  readonly oldestReceivedAtMs: number;
  readonly location: BatchLocation;
}

/** Batches that are inserted into ClickHouse as one block, in the order of their ids. */
export interface ProjectionGroup {
  readonly group: number;
  /** Groups are numbered in the order in which they are formed. 0 for a group of an earlier version. */
  readonly no: number;
  readonly dedicatedTo: RowStorage;
  /** Identifies a repeated insert to ClickHouse. */
  readonly token: string;
  readonly batches: readonly GroupedBatch[];
}

/** Returns the longest run of batches, oldest first, that fits one group. */
export function chooseGroup(waiting: readonly UnprojectedBatch[]): [number, ...number[]] {
  const [first, ...others] = waiting;
  if (first === undefined) throw new Error('the next storage has no waiting batch');
  const ids: [number, ...number[]] = [first.id];
  let events = first.eventCount;
  let bytes = sizeOf(first);
  for (const batch of others) {
    events += batch.eventCount;
    bytes += sizeOf(batch);
    if (events > GROUP_EVENTS_MAX || bytes > GROUP_BYTES_MAX) break;
    ids.push(batch.id);
  }
  return ids;
}

function sizeOf({ spoolFile, columnBytes }: UnprojectedBatch): number {
  return spoolFile === null ? columnBytes : spoolFileBytes(spoolFile);
}
