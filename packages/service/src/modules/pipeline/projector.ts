import type { Clock } from '../../kernel/clock.js';
import { SHARDS_MAX } from '../../kernel/shard.js';
import { mapAtOnce } from '../../platform/at-once.js';
import { totalBytes } from '../../platform/buffers.js';
import type { BlockData, ClickHouse } from '../../platform/clickhouse/index.js';
import type { ProcessLease } from '../../platform/leases/index.js';
import { type AwaitedWork, isBackupUnderWay, type Postgres } from '../../platform/postgres/index.js';
import { pause, retryPauseMs, Wakeup } from '../../platform/wakeup.js';
import type { BlockArchive } from '../archive/index.js';
import { dedicatedSuffixes } from '../storage/index.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';
import type { ArchivedRows } from './group-end-store.js';
import { checkHistory, type ProjectionState, recordGroup } from './history-check.js';
import { type ProjectionStage, type ProjectorObserver, StageClock } from './observer.js';
import { checkViews, ProjectorSession, waitingBatch } from './projector-store.js';
import { FILES_AT_ONCE, type Spool, SpoolCorruptError, SpoolReader } from './spool.js';
import { chooseGroup, GroupPace, type ProjectionGroup, StorageTurns, tablesOfRows } from './turns.js';

const WAITING_BATCHES_MAX = 1_000;
/** Upper bound of the time until a batch of another process is noticed. */
const LOOK_MS = 200;
/** Poll interval without a watch. */
const IDLE_POLL_MS = 5_000;
/** Interval for checking whether the projector of an earlier version has ended. */
const STANDBY_POLL_MS = 1_000;
/** Pause after another projector has taken batches that this one wanted. */
const REFUSED_PAUSE_MS = 20;
/** After this time a group with a damaged file is tried again; the others continue meanwhile. */
const CORRUPT_RETRY_MS = 60_000;
/** After this time a group that could not be inserted into the tables of one project is tried again. */
const FAILED_RETRY_MS = 5_000;

/** The shards that a process works on now. */
export interface OwnedShards {
  /** The shards of the rows; see `storedShardsOf`. */
  readonly stored: readonly number[];
  /** The leases that give the shards to this process. */
  readonly leases: readonly ProcessLease[];
}

const ALL_SHARDS: OwnedShards = {
  stored: Array.from({ length: SHARDS_MAX }, (_, shard) => shard),
  leases: [],
};

export interface ProjectorDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'insertRows' | 'upToDate' | 'command'>;
  readonly spool: Spool;
  /** Keeps all rows that are inserted; undefined if there is no place for them. */
  readonly archive?: Pick<BlockArchive, 'put'> | undefined;
  readonly clock: Clock;
  readonly observer: ProjectorObserver;
  /** Returns the shards whose batches this process projects now; default all. */
  readonly shards?: () => OwnedShards;
}

/**
 * Copies rated batches into ClickHouse: each row once, whatever crashes. Several projectors can run on one database.
 * Shards only share out the work: even projectors with the same shard never hold the same group.
 */
export interface Projector {
  /** Works until `signal` aborts, then finishes the current group; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Call it after a batch was committed, or after the shards have changed. */
  notify(): void;
  /** For a watch; ends the projector's wait when batches are waiting. */
  readonly awaited: AwaitedWork;
  /** Projects everything that waits, without waiting for locks or retrying. Returns the number of projected events. */
  drain(): Promise<number>;
}

export function createProjector(deps: ProjectorDeps): Projector {
  return new GroupProjector(deps);
}

class GroupProjector implements Projector {
  readonly #deps: ProjectorDeps;
  readonly #wakeup = new Wakeup();
  readonly awaited = { dueAtMs: waitingBatch, lookMs: LOOK_MS, onDue: () => this.notify() };
  readonly #turns = new StorageTurns();
  readonly #pace = new GroupPace();
  readonly #reader: SpoolReader;
  /** The current or the last group. */
  #inHand: ProjectionGroup | undefined;
  /** Groups that cannot be projected now, and when to try them again. */
  readonly #heldBack = new Map<number, number>();

  constructor(deps: ProjectorDeps) {
    this.#deps = deps;
    this.#reader = new SpoolReader(deps.spool);
  }

  notify(): void {
    this.#wakeup.notify();
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      this.#inHand = undefined;
      try {
        const session = await this.#open();
        if (session === undefined) {
          await pause(STANDBY_POLL_MS, signal);
          continue;
        }
        await this.#work(session, signal, () => {
          failures = 0;
        });
      } catch (error) {
        this.#deps.observer.groupFailed(error);
        this.#setAside();
        await pause(retryPauseMs(++failures), signal);
      }
    }
  }

  async drain(): Promise<number> {
    const session = await this.#open();
    if (session === undefined)
      throw new Error(
        'no projector may work: the history is being rebuilt or repaired, or one of an earlier version works',
      );
    try {
      let events = 0;
      for (;;) {
        const outcome = await this.#projectNext(session, Number.POSITIVE_INFINITY);
        if (outcome.kind === 'projected') events += outcome.events;
        else if (outcome.kind !== 'refused') return events;
      }
    } finally {
      await session.close();
    }
  }

  #open(): Promise<ProjectorSession | undefined> {
    const { postgres, clickhouse } = this.#deps;
    return ProjectorSession.open(postgres, async (session, state) => {
      await checkViews(clickhouse, () => dedicatedSuffixes(postgres));
      await this.#checkHistory(session, state);
    });
  }

  async #work(session: ProjectorSession, signal: AbortSignal, onSuccess: () => void): Promise<void> {
    try {
      while (!signal.aborted) {
        const outcome = await this.#projectNext(session, performance.now());
        onSuccess();
        if (outcome.kind === 'halted') return;
        if (outcome.kind === 'idle') await this.#wakeup.wait(IDLE_POLL_MS, signal);
        else if (outcome.kind === 'refused') await pause(REFUSED_PAUSE_MS, signal);
        else if (outcome.kind === 'paced') await pause(outcome.waitMs, signal);
      }
    } finally {
      await session.close();
    }
  }

  /** Projects the next group of a storage that need not wait at `nowMs`. */
  async #projectNext(session: ProjectorSession, nowMs: number): Promise<Outcome> {
    const started = performance.now();
    const stages = new StageClock<ProjectionStage>((stage, ms) => this.#deps.observer.stage(stage, ms));
    for (;;) {
      const state = await session.state();
      if (state.isRebuilding) return { kind: 'halted' };
      const found = await this.#nextGroup(session, nowMs);
      if ('kind' in found) return found;
      this.#inHand = found;
      this.#turns.began(found.dedicatedTo, started);
      stages.end('group');
      try {
        const events = await this.#project(session, found, { state, stages });
        const intervalMs = this.#pace.intervalMs(events);
        if (intervalMs > 0) this.#turns.pause(found.dedicatedTo, started + intervalMs);
        await session.leaveGroup(found.group);
        const oldestMs = Math.min(...found.batches.map(({ oldestReceivedAtMs }) => oldestReceivedAtMs));
        const ageMs = Math.max(0, this.#deps.clock.nowMs() - oldestMs);
        this.#deps.observer.group(events, performance.now() - started, ageMs);
        this.#deps.observer.ended?.(stages.ended({ events, batches: found.batches.length }));
        return { kind: 'projected', events };
      } catch (error) {
        this.#deps.observer.ended?.(stages.ended({}, error));
        if (!(error instanceof SpoolCorruptError)) throw error;
        this.#holdBack(found, CORRUPT_RETRY_MS);
        this.#deps.observer.spoolCorrupt(error);
      }
      await session.leaveGroup(found.group);
    }
  }

  async #nextGroup(
    session: ProjectorSession,
    nowMs: number,
  ): Promise<ProjectionGroup | Exclude<Outcome, { kind: 'projected' }>> {
    const clockMs = this.#deps.clock.nowMs();
    for (const [group, retryAtMs] of this.#heldBack) if (retryAtMs <= clockMs) this.#heldBack.delete(group);
    const heldBack = [...this.#heldBack.keys()];
    const { stored, leases } = this.#deps.shards?.() ?? ALL_SHARDS;
    if (stored.length === 0) return { kind: 'idle' };
    const begun = await session.begunGroup(stored, heldBack);
    if (begun !== undefined) return begun;
    const waiting = await session.waitingBatches(stored, WAITING_BATCHES_MAX);
    if (waiting.length === 0) return { kind: 'idle' };
    this.#turns.holdCorrections(waiting, nowMs);
    const storages = [...new Set(waiting.map(({ dedicatedTo }) => dedicatedTo))];
    const turn = this.#turns.next(storages, nowMs);
    if (turn === undefined) return { kind: 'paced', waitMs: this.#turns.waitMs(storages, nowMs) };
    const ids = chooseGroup(waiting.filter(({ dedicatedTo }) => dedicatedTo === turn.storage));
    return (await session.formGroup(ids, leases)) ?? { kind: 'refused' };
  }

  /**
   * Sets a failed group aside if it has tables of its own, so that the others continue: its tables may be the cause.
   */
  #setAside(): void {
    const failed = this.#inHand;
    if (failed === undefined || failed.dedicatedTo === null) return;
    this.#holdBack(failed, FAILED_RETRY_MS);
    this.#turns.pause(failed.dedicatedTo, performance.now() + FAILED_RETRY_MS);
  }

  #holdBack({ group }: ProjectionGroup, forMs: number): void {
    this.#heldBack.set(group, this.#deps.clock.nowMs() + forMs);
  }

  async #project(
    session: ProjectorSession,
    group: ProjectionGroup,
    { state, stages }: { readonly state: ProjectionState; readonly stages: StageClock<ProjectionStage> },
  ): Promise<number> {
    const { clickhouse, postgres, spool } = this.#deps;
    const events = group.batches.reduce((sum, { eventCount }) => sum + eventCount, 0);
    const { rows, release } = await this.#reader.read(group.batches.map(({ location }) => location));
    stages.end('read');
    // The state from before the group was found will do: while the lock of this session is held, the history keeps its
    // name, and a state that knows fewer groups is read again if it has to be.
    await this.#checkHistory(session, state);
    await recordGroup(clickhouse, state.historyId, group.no);
    stages.end('record');
    const [archived, inserted] = await Promise.allSettled([
      this.#archive(rows),
      clickhouse.insertRows(
        tablesOfRows(group.dedicatedTo).events,
        USAGE_EVENT_COLUMNS,
        this.#blockOf(group, rows),
        events,
        group.token,
        () => session.checkInHand(group),
      ),
    ]);
    // Only now: the locks of the session must be held until the insert has ended.
    if (inserted.status === 'rejected') throw inserted.reason;
    if (archived.status === 'rejected') throw archived.reason;
    release();
    stages.end('insert');
    await session.endGroup(group, archived.value, this.#deps.clock.nowMs());
    stages.end('delete');
    // A file that remains after a crash here, or during a backup, has no row: a later sweep removes it.
    if (!(await isBackupUnderWay(postgres))) {
      await mapAtOnce(group.batches, FILES_AT_ONCE, ({ location }) => spool.remove(location));
    }
    stages.end('unlink');
    return events;
  }

  #checkHistory(session: ProjectorSession, state: ProjectionState): Promise<void> {
    const { clickhouse, archive } = this.#deps;
    return checkHistory({ clickhouse, hasArchive: archive !== undefined }, state, () => session.state());
  }

  /** Returns the rows to insert. A group with a single file is inserted from that file. */
  #blockOf({ batches }: ProjectionGroup, parts: readonly Buffer[]): BlockData {
    const only = batches.length === 1 ? batches[0] : undefined;
    const file = only && this.#deps.spool.path(only.location);
    // In pieces: joining them would copy many megabytes while no request is served.
    return file === undefined ? { bytes: parts } : { file };
  }

  /** After a crash, an object of the archive to which no row points is left, and is swept. */
  async #archive(parts: readonly Buffer[]): Promise<ArchivedRows | undefined> {
    const objectKey = await this.#deps.archive?.put(parts);
    return objectKey === undefined ? undefined : { objectKey, byteCount: totalBytes(parts) };
  }
}

/** The result of an attempt to project a group. */
type Outcome =
  | { readonly kind: 'projected'; readonly events: number }
  /** Everything that waits must be projected later. */
  | { readonly kind: 'paced'; readonly waitMs: number }
  /** Another projector was faster, or has the shards now. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'idle' }
  /** The history is rebuilt or repaired: the session must end. */
  | { readonly kind: 'halted' };
