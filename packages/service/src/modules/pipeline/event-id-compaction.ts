import { DAY_S } from '@tollgate/timezone';
import { BoundedMap } from '../../kernel/bounded-map.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { groupBy } from '../../kernel/maps.js';
import type { Logger } from '../../platform/log/index.js';
import { addReadGauge, Counter, type Metrics } from '../../platform/metrics/index.js';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import { createSweepJob, type SweepJob } from '../../platform/sweep-job.js';
import { pause } from '../../platform/wakeup.js';
import * as store from './event-id-block-store.js';

export interface EventIdCompactionDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: Metrics;
}

export interface EventIdCompactionOptions {
  /** Upper bound of the loose ids that one transaction reads. Default 10,000. */
  readonly idsPerStep?: number;
  /** Pause after a step that moved ids, so that rating has most of PostgreSQL's time. Default 200 ms. */
  readonly stepPauseMs?: number;
}

/** Ids of events of this age are compacted. Clients mostly repeat younger events, which are found without blocks. */
export const COMPACTED_AFTER_S = 2 * DAY_S;
/** Interval between sweeps over all projects. */
const SWEEP_INTERVAL_MS = 60 * 60_000;
/** After this time without a step, another process takes over the sweep of a process that died. */
const CLAIM_MS = 10 * 60_000;
const POLL_MS = 60_000;
const IDS_PER_STEP = 10_000;
const STEP_PAUSE_MS = 200;
const PROJECTS_PER_PAGE = 500;
/** Upper bound of the steps of each tenant of a page before the next page gets its turn. */
const ROUNDS_PER_PAGE = 50;
/** Upper bound of the projects whose progress is remembered; a project beyond it starts again. */
const POSITIONS_MAX = 10_000;
/**
 * Loose ids are merged into a block when they are at least a sixteenth of its ids, and at least eight. Fewer stay
 * loose, because a merge writes the whole block again: so for each moved id at most seventeen ids are written.
 */
const MERGED_SHARE = 16;
const MERGED_IDS_MIN = 8;

const FIRST_ID = '0'.repeat(32);
const LAST_ID = 'f'.repeat(32);
const BEFORE_ALL = { tenantId: '', projectId: '' };

/**
 * Creates the job that moves ids of old events from `usage_event_ids` into sorted blocks. A sweep returns the number of
 * moved ids. It does nothing unless one is due: of all jobs on one database, one at a time does the work.
 */
export function createEventIdCompactionJob(
  deps: EventIdCompactionDeps,
  options: EventIdCompactionOptions = {},
): SweepJob {
  const compaction = new EventIdCompaction(deps, options);
  return createSweepJob({
    sweep: (signal) => compaction.sweep(signal),
    pollMs: POLL_MS,
    log: deps.log,
    failureMessage: 'could not compact ids of old events; will try again',
    failures: compaction.failures,
  });
}

/** One sweep of this process. */
interface Sweep {
  /** Ids of events before this time, in Unix seconds, are compacted. */
  readonly before: number;
  readonly signal: AbortSignal;
  /** The last id that was read, by project. */
  readonly positions: BoundedMap<number, string>;
  claimedUntilMs: number;
  moved: number;
}

/** Another process has claimed the sweep, because this one was too slow. */
class ClaimLost extends Error {}

class EventIdCompaction {
  readonly #deps: EventIdCompactionDeps;
  readonly #idsPerStep: number;
  readonly #stepPauseMs: number;
  readonly #compacted: Counter;
  readonly failures: Counter;
  #sweptAtMs: number | null = null;

  constructor(deps: EventIdCompactionDeps, options: EventIdCompactionOptions) {
    this.#deps = deps;
    this.#idsPerStep = options.idsPerStep ?? IDS_PER_STEP;
    this.#stepPauseMs = options.stepPauseMs ?? STEP_PAUSE_MS;
    const registers = [deps.metrics];
    this.#compacted = new Counter({
      name: 'tollgate_event_ids_compacted_total',
      help: 'Ids of old events that were moved into blocks.',
      registers,
    });
    this.failures = new Counter({
      name: 'tollgate_event_id_compaction_failures_total',
      help: 'Failed attempts to compact ids of old events; they are repeated.',
      registers,
    });
    addReadGauge(
      deps.metrics,
      'tollgate_event_id_compaction_age_seconds',
      'Time since the ids of all old events were last compacted.',
      () => (this.#sweptAtMs === null ? 0 : (deps.clock.nowMs() - this.#sweptAtMs) / 1_000),
    );
  }

  async sweep(signal: AbortSignal = new AbortController().signal): Promise<number> {
    const { postgres, clock, log } = this.#deps;
    const nowMs = clock.nowMs();
    this.#sweptAtMs = await store.lastCompactedAtMs(postgres.db);
    const claim = { nowMs, untilMs: nowMs + CLAIM_MS, intervalMs: SWEEP_INTERVAL_MS };
    if (!(await store.claimCompaction(postgres.db, claim))) return 0;
    const sweep: Sweep = {
      before: Math.max(0, unixSeconds(clock) - COMPACTED_AFTER_S),
      signal,
      positions: new BoundedMap(POSITIONS_MAX),
      claimedUntilMs: nowMs + CLAIM_MS,
      moved: 0,
    };
    try {
      let isComplete = false;
      while (!isComplete && !signal.aborted) isComplete = await this.#passProjects(sweep);
    } catch (error) {
      if (!(error instanceof ClaimLost)) throw error;
    }
    if (sweep.moved > 0) log.info({ moved: sweep.moved }, 'compacted ids of old events');
    if (!signal.aborted) await this.#finish(sweep);
    return sweep.moved;
  }

  async #finish({ claimedUntilMs }: Sweep): Promise<void> {
    const sweptAtMs = this.#deps.clock.nowMs();
    const dueAtMs = sweptAtMs + SWEEP_INTERVAL_MS;
    await store.finishCompaction(this.#deps.postgres.db, { claimedUntilMs, sweptAtMs, dueAtMs });
    this.#sweptAtMs = await store.lastCompactedAtMs(this.#deps.postgres.db);
  }

  /** Gives the tenants of each page their turns. Returns whether all projects are done. */
  async #passProjects(sweep: Sweep): Promise<boolean> {
    let isComplete = true;
    let after: Pick<store.OldIdProject, 'tenantId' | 'projectId'> = BEFORE_ALL;
    while (!sweep.signal.aborted) {
      const { db } = this.#deps.postgres;
      const page = await store.projectsWithOldIds(db, sweep.before, after, PROJECTS_PER_PAGE);
      if (!(await this.#takeTurns(sweep, page))) isComplete = false;
      const last = page.at(-1);
      if (last === undefined || page.length < PROJECTS_PER_PAGE) break;
      after = last;
    }
    return isComplete;
  }

  /** In each round every tenant gets one step, so that none waits for another one's history. */
  async #takeTurns(sweep: Sweep, page: readonly store.OldIdProject[]): Promise<boolean> {
    let tenants = byTenant(page);
    for (let round = 0; round < ROUNDS_PER_PAGE && tenants.length > 0; round += 1) {
      for (const projects of tenants) {
        const projectNo = projects.at(-1);
        if (sweep.signal.aborted || projectNo === undefined) return false;
        if (await this.#step(sweep, projectNo)) projects.pop();
      }
      tenants = tenants.filter((projects) => projects.length > 0);
    }
    return tenants.length === 0;
  }

  /** Compacts a bounded number of ids of one project. Returns whether no more of them are worth merging. */
  async #step(sweep: Sweep, projectNo: number): Promise<boolean> {
    const afterId = sweep.positions.get(projectNo) ?? FIRST_ID;
    if (afterId === LAST_ID) return true;
    const untilMs = this.#deps.clock.nowMs() + CLAIM_MS;
    const { before, claimedUntilMs } = sweep;
    const { groups, moved } = await transaction(this.#deps.postgres, async (tx) => {
      if (!(await store.holdCompaction(tx, { claimedUntilMs, untilMs }))) throw new ClaimLost();
      if (await store.isMovingForStep(tx, projectNo)) return { groups: [], moved: 0 };
      const found = await store.looseIds(tx, projectNo, { afterId, before, limit: this.#idsPerStep });
      const paying = found.filter(isWorthMerging);
      return { groups: found, moved: paying.length > 0 ? await store.compactIds(tx, projectNo, paying) : 0 };
    });
    sweep.claimedUntilMs = untilMs;
    sweep.moved += moved;
    this.#compacted.inc(moved);
    const read = groups.reduce((sum, { count }) => sum + count, 0);
    const isDone = read < this.#idsPerStep;
    sweep.positions.set(projectNo, isDone ? LAST_ID : (groups.at(-1)?.last ?? LAST_ID));
    if (moved > 0 && this.#stepPauseMs > 0) await pause(this.#stepPauseMs, sweep.signal);
    return isDone;
  }
}

/** Returns the numbers of the projects of each tenant. */
function byTenant(page: readonly store.OldIdProject[]): number[][] {
  const tenants = groupBy(page, ({ tenantId }) => tenantId);
  return Array.from(tenants.values(), (projects) => projects.map(({ projectNo }) => projectNo));
}

function isWorthMerging({ count, blockIds }: store.LooseIds): boolean {
  return count >= Math.max(MERGED_IDS_MIN, blockIds / MERGED_SHARE);
}
