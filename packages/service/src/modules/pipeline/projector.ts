import type { Clock } from '../../kernel/clock.js';
import type { ClickHouse, RowBinaryData } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { pause, retryPauseMs, Wakeup } from '../../platform/wakeup.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';
import { type ProjectionStage, type ProjectorObserver, StageClock } from './observer.js';
import { type ProjectionGroup, ProjectorSession, type WaitingBatch } from './projector-store.js';
import { type Spool, SpoolCorruptError, spoolFileBytes } from './spool.js';

/** One block of ClickHouse holds at most so much, beyond a first batch of any size. */
const GROUP_EVENTS_MAX = 50_000;
const GROUP_BYTES_MAX = 64 * 1_048_576;
/**
 * An insert costs as much as some 3,000 rows before its first row, and makes parts that must be merged: smaller groups than this
 * follow each other no sooner than this, from start to start. An event so waits for one interval and one insert at most, which
 * leaves half of the second in which it should be queryable to the stages before. The number is well above what comes in an
 * interval under half of the full load: were it below, each group after the interval would be followed at once by a small one
 * of what came meanwhile. A backlog fills larger groups, and is not held up.
 */
const PACED_GROUP_EVENTS = 10_000;
const GROUP_INTERVAL_MS = 400;
const WAITING_BATCHES_MAX = 1_000;
/** How long a batch of another process may wait to be noticed. */
const IDLE_POLL_MS = 200;
/** How often a standby asks whether the active projector is gone. */
const STANDBY_POLL_MS = 1_000;
/** A group with a damaged file is tried again after so long; the others go on meanwhile. */
const CORRUPT_RETRY_MS = 60_000;

export interface ProjectorDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'insertRows'>;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly observer: ProjectorObserver;
}

/** Copies rated batches into ClickHouse: each row once, whatever is killed when. */
export interface Projector {
  /** Works until `signal` aborts, then ends after the group in hand; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Says that a batch was committed. */
  notify(): void;
  /** Projects all that waits; waits for no lock and retries nothing. Answers how many events it projected. */
  drain(): Promise<number>;
}

export function createProjector(deps: ProjectorDeps): Projector {
  return new GroupProjector(deps);
}

class GroupProjector implements Projector {
  readonly #wakeup = new Wakeup();
  /** Groups with a damaged file, and when to try them again. */
  readonly #heldBack = new Map<number, number>();

  constructor(private readonly deps: ProjectorDeps) {}

  notify(): void {
    this.#wakeup.notify();
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const session = await ProjectorSession.open(this.deps.postgres);
        if (session === undefined) {
          await pause(STANDBY_POLL_MS, signal);
          continue;
        }
        await this.#work(session, signal, () => {
          failures = 0;
        });
      } catch (error) {
        this.deps.observer.groupFailed(error);
        await pause(retryPauseMs(++failures), signal);
      }
    }
  }

  async drain(): Promise<number> {
    const session = await ProjectorSession.open(this.deps.postgres);
    if (session === undefined) throw new Error('another projector is at work');
    try {
      let events = 0;
      for (;;) {
        const projected = await this.#projectNext(session);
        if (projected === 0) return events;
        events += projected;
      }
    } finally {
      session.close();
    }
  }

  async #work(session: ProjectorSession, signal: AbortSignal, onSuccess: () => void): Promise<void> {
    try {
      while (!signal.aborted) {
        const started = performance.now();
        const projected = await this.#projectNext(session);
        onSuccess();
        if (projected === 0) await this.#wakeup.wait(IDLE_POLL_MS, signal);
        else if (projected < PACED_GROUP_EVENTS) {
          await pause(GROUP_INTERVAL_MS - (performance.now() - started), signal);
        }
      }
    } finally {
      session.close();
    }
  }

  /** Projects one group and answers its events, 0 when nothing waits. */
  async #projectNext(session: ProjectorSession): Promise<number> {
    const started = performance.now();
    const stages = new StageClock<ProjectionStage>((stage, ms) => this.deps.observer.stage(stage, ms));
    for (;;) {
      const group = await this.#nextGroup(session);
      if (group === undefined) return 0;
      stages.end('group');
      try {
        const events = await this.#project(session, group, stages);
        this.deps.observer.group(events, performance.now() - started);
        return events;
      } catch (error) {
        if (!(error instanceof SpoolCorruptError)) throw error;
        this.#heldBack.set(group.group, this.deps.clock.nowMs() + CORRUPT_RETRY_MS);
        this.deps.observer.spoolCorrupt(error);
      }
    }
  }

  async #nextGroup(session: ProjectorSession): Promise<ProjectionGroup | undefined> {
    const nowMs = this.deps.clock.nowMs();
    for (const [group, retryAtMs] of this.#heldBack) if (retryAtMs <= nowMs) this.#heldBack.delete(group);
    const heldBack = [...this.#heldBack.keys()];
    const begun = await session.begunGroup(heldBack);
    if (begun !== undefined) return begun;
    const ids = chooseGroup(await session.waitingBatches(WAITING_BATCHES_MAX));
    if (ids === undefined) return undefined;
    await session.formGroup(ids);
    return session.begunGroup(heldBack);
  }

  async #project(
    session: ProjectorSession,
    group: ProjectionGroup,
    stages: StageClock<ProjectionStage>,
  ): Promise<number> {
    const { clickhouse, spool } = this.deps;
    const events = group.batches.reduce((sum, { eventCount }) => sum + eventCount, 0);
    const rows = await this.#rowsOf(group);
    stages.end('read');
    await clickhouse.insertRows('usage_events', USAGE_EVENT_COLUMNS, rows, events, group.token);
    stages.end('insert');
    await session.endGroup(group, this.deps.clock.nowMs());
    stages.end('delete');
    // A file that stays behind after a crash here has no row, and the next sweep takes it.
    for (const { location } of group.batches) await spool.remove(location);
    stages.end('unlink');
    return events;
  }

  /** Reads every batch, and so proves it whole; a group of one file is then inserted from that file. */
  async #rowsOf({ batches }: ProjectionGroup): Promise<RowBinaryData> {
    const { spool } = this.deps;
    const parts: Buffer[] = [];
    for (const { location } of batches) parts.push(await spool.read(location));
    const only = batches.length === 1 ? batches[0] : undefined;
    const file = only && spool.path(only.location);
    // In pieces: joining them would copy up to GROUP_BYTES_MAX while no request is served.
    return file === undefined ? { bytes: parts } : { file };
  }
}

/** The longest run of batches, oldest first, that fits one group. */
function chooseGroup(waiting: readonly WaitingBatch[]): [number, ...number[]] | undefined {
  const [first, ...others] = waiting;
  if (first === undefined) return undefined;
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

function sizeOf({ spoolFile, columnBytes }: WaitingBatch): number {
  return spoolFile === null ? columnBytes : spoolFileBytes(spoolFile);
}
