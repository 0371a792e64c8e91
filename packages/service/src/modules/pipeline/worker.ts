import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import type { ClaimedSegment } from '../../platform/queue/index.js';
import { type ThreadTime, threadTime } from '../../platform/thread-time.js';
import { Turns } from '../../platform/turns.js';
import { pause, retryPauseMs, Wakeup } from '../../platform/wakeup.js';
import { CounterMemory } from '../counters/index.js';
import { UsageBlock } from '../usage/index.js';
import { type BatchDeps, type BatchSource, eventCountOf, processBatch } from './batch.js';
import { readHeldBack } from './defer.js';
import { DeferredTurns, isCausedByEvents } from './deferred-turns.js';
import { EventIds } from './event-id-store.js';
import {
  type BatchCounts,
  type BatchStage,
  type PipelineObserver,
  type SegmentNews,
  StageClock,
} from './observer.js';
import { createRollupDimensions, type RollupDimensions } from './rollup-dimensions.js';
import { SpoolSweeps } from './spool.js';
import { ClaimTurns, IDLE_POLL_MS } from './turns.js';

const BATCH_EVENTS_MAX = 20_000;
/** Batches that run at the same time: while the database works on one, this thread works on the other. */
const LOOPS = 2;
const CONNECTIONS_PER_LOOP = 2;
/** A turn of a tenant with deferred events needs one more connection, and shares those that read rules. */
const DEFERRED_CONNECTIONS = 1;
/** While other batches run, deferred events pause for this multiple of the time that they ran. */
const REST_FACTOR = 2;
const REST_MS_MAX = 1_000;

export interface PipelineWorkerOptions {
  readonly batchEventsMax?: number;
  /** Bytes of failed events that one batch reads back. */
  readonly reprocessBytesMax?: number;
  readonly lingerMs?: number;
  readonly loops?: number;
  /** Bytes that may wait for ClickHouse; see `readHeldBack`. */
  readonly unprojectedBytesMax?: number;
  /** Windows of one tenant in a batch, each with its alerts. */
  readonly alertsMax?: number;
  /** Measures the time that events take. */
  readonly thread?: ThreadTime;
}

export interface PipelineWorkerDeps extends BatchDeps {
  readonly postgres: Postgres;
  readonly observer: PipelineObserver;
  /** Called after each commit that left rows for ClickHouse. */
  readonly onCommitted: () => void;
  /** Called after each claim that may have left segments for others. */
  readonly onFullClaim?: () => void;
}

/** Sums since the start of the process. */
export type PipelineStats = { [K in keyof BatchCounts | 'batches' | 'failures']: number };

/** Rates the events of the queue. Any number of workers may run on one database, in any number of processes. */
export interface PipelineWorker {
  /** Works until `signal` aborts, then finishes the current batches; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends the wait for segments. */
  notify(news: SegmentNews): void;
  /** Rates everything that can be claimed now, without gathering or retrying; rejects when a batch fails. */
  drain(): Promise<void>;
  stats(): Readonly<PipelineStats>;
}

export function createPipelineWorker(
  deps: PipelineWorkerDeps,
  options: PipelineWorkerOptions = {},
): PipelineWorker {
  return new LoopWorker(deps, options);
}

class LoopWorker implements PipelineWorker {
  readonly #deps: PipelineWorkerDeps;
  readonly #options: PipelineWorkerOptions;
  readonly #eventsMax: number;
  readonly #loops: number;
  readonly #thread: ThreadTime;
  readonly #turns: ClaimTurns;
  readonly #rollup: RollupDimensions;
  readonly #eventIds = new EventIds();
  /** Undefined as long as no price depends on a total. */
  #counterMemory: CounterMemory | undefined;
  readonly #deferredWakeup = new Wakeup();
  readonly #deferredTurns: DeferredTurns;
  /** Whether a tenant may have deferred events; only then are they queried. */
  #mayBeDeferred = true;
  /** Tenants whose events were too slow for a batch; concurrent batches defer their events too, to save the time. */
  readonly #slowTenants = new Set<string>();
  /** Tenants of batches that failed because of their events, which are deferred, so that each tenant fails alone. */
  readonly #suspects = new Set<string>();
  readonly #sweeps: SpoolSweeps;
  /** Number of running batches of events that are not deferred. */
  #inHand = 0;
  readonly #stats: PipelineStats = {
    batches: 0,
    failures: 0,
    claimed: 0,
    processed: 0,
    failed: 0,
    duplicate: 0,
    reprocessed: 0,
    skipped: 0,
    deferred: 0,
  };

  constructor(deps: PipelineWorkerDeps, options: PipelineWorkerOptions) {
    this.#deps = deps;
    this.#options = options;
    const { batchEventsMax = BATCH_EVENTS_MAX, loops = LOOPS } = options;
    this.#eventsMax = batchEventsMax;
    this.#turns = new ClaimTurns(batchEventsMax, options.lingerMs);
    this.#loops = loops;
    this.#thread = options.thread ?? threadTime;
    this.#deferredTurns = new DeferredTurns(batchEventsMax);
    this.#rollup = createRollupDimensions(deps.postgres);
    this.#sweeps = new SpoolSweeps(deps);
    // A batch holds one connection and reads rules on another: with fewer, batches would wait for each other for ever.
    const connectionsMin = loops * CONNECTIONS_PER_LOOP + DEFERRED_CONNECTIONS;
    if ((deps.postgres.pool.options.max ?? 0) < connectionsMin) {
      throw new RangeError(`${loops} batches at once need ${connectionsMin} connections`);
    }
  }

  notify(news: SegmentNews): void {
    if (news === 'deferred') this.#deferredWakeup.notify();
    else this.#turns.notify(news);
  }

  stats(): Readonly<PipelineStats> {
    return this.#stats;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sweeps.sweepNow();
    const loops = Array.from({ length: this.#loops }, () => this.#loop(signal));
    await Promise.all([...loops, this.#deferredLoop(signal)]);
  }

  async drain(): Promise<void> {
    const block = new UsageBlock();
    const turns = new Turns(this.#thread.nowMs);
    while ((await this.#newBatch(block, () => {})) ?? (await this.#deferredBatch(block, turns)));
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const block = new UsageBlock();
    let failures = 0;
    while (!signal.aborted) {
      const endTurn = await this.#turns.take();
      try {
        await this.#turns.gather(signal);
        if (!signal.aborted) await this.#newBatch(block, endTurn);
        failures = 0;
        await this.#sweeps.sweepIfDue();
      } catch (error) {
        endTurn();
        this.#stats.failures++;
        this.#deps.observer.batchFailed(error);
        await pause(retryPauseMs(++failures), signal);
        await this.#sweeps.sweepNow();
        // The events of the failed batch are waiting again, and another loop may be about to sleep.
        this.notify('waiting');
      } finally {
        endTurn();
      }
    }
  }

  async #newBatch(block: UsageBlock, endTurn: () => void): Promise<BatchCounts | undefined> {
    let isInHand = false;
    const tenantIds = new Set<string>();
    const onClaimed = (segments: readonly ClaimedSegment[]) => {
      const events = eventCountOf(segments);
      for (const { records } of segments) for (const { scope } of records) tenantIds.add(scope.tenantId);
      if (this.#turns.claimed(events)) this.#deps.onFullClaim?.();
      isInHand = events > 0;
      if (isInHand) this.#inHand++;
      endTurn();
    };
    const source = { kind: 'new', mayBeDeferred: this.#mayBeDeferred } as const;
    const turns = new Turns(this.#thread.nowMs);
    try {
      const counts = await this.#batch({ source, eventsMax: this.#eventsMax, block, turns, onClaimed });
      // Suspects among them have deferred events now, and the next ones queue behind those.
      for (const tenantId of tenantIds) this.#suspects.delete(tenantId);
      return counts;
    } catch (error) {
      if (isCausedByEvents(error)) for (const tenantId of tenantIds) this.#suspects.add(tenantId);
      throw error;
    } finally {
      if (isInHand) this.#inHand--;
    }
  }

  /** Rates deferred events, one turn of a tenant after the other; never rejects. */
  async #deferredLoop(signal: AbortSignal): Promise<void> {
    const block = new UsageBlock();
    const turns = new Turns(this.#thread.nowMs, (turnMs) => this.#rest(turnMs, signal));
    let failures = 0;
    while (!signal.aborted) {
      try {
        const counts = await this.#deferredBatch(block, turns);
        failures = 0;
        if (counts === undefined) await this.#deferredWakeup.wait(IDLE_POLL_MS, signal);
        else await turns.pause();
      } catch (error) {
        this.#stats.failures++;
        this.#deps.observer.batchFailed(error);
        await pause(retryPauseMs(++failures), signal);
        await this.#sweeps.sweepNow();
      }
    }
  }

  /** Runs the turn of the next tenant with deferred events; undefined if none can be claimed. */
  async #deferredBatch(block: UsageBlock, turns: Turns): Promise<BatchCounts | undefined> {
    const { postgres, queue, shards } = this.#deps;
    const { after } = this.#deferredTurns;
    const { turn, isHeldBack } = await transaction(postgres, async (tx) => {
      const { tenants } = await readHeldBack(tx, this.#options.unprojectedBytesMax);
      const next = await queue.nextDeferred(tx, after, { shards: shards?.(), withoutTenants: [...tenants] });
      return { turn: next, isHeldBack: tenants.size > 0 };
    });
    this.#mayBeDeferred = turn !== undefined || isHeldBack;
    if (turn === undefined) {
      this.#slowTenants.clear();
      return undefined;
    }
    this.#deferredTurns.after = turn;
    const { eventsMax, careful } = this.#deferredTurns.begin(turn);
    const source = { kind: 'deferred', turn, careful } as const;
    try {
      const counts = await this.#batch({ source, eventsMax, block, turns, onClaimed: () => {} });
      if (counts !== undefined) this.#deferredTurns.learn(turn, counts);
      return counts;
    } catch (error) {
      if (isCausedByEvents(error)) this.#deferredTurns.failed(turn);
      throw error;
    }
  }

  /** Pauses in proportion to the turn, if other batches run. */
  async #rest(turnMs: number, signal: AbortSignal): Promise<void> {
    if (this.#inHand === 0) await nextTurn();
    else await pause(Math.min(REST_FACTOR * turnMs, REST_MS_MAX), signal);
  }

  async #batch(batch: {
    readonly source: BatchSource;
    readonly eventsMax: number;
    readonly block: UsageBlock;
    readonly turns: Turns;
    readonly onClaimed: (segments: readonly ClaimedSegment[]) => void;
  }): Promise<BatchCounts | undefined> {
    const { postgres, observer, onCommitted } = this.#deps;
    const started = performance.now();
    const stages = new StageClock<BatchStage>((stage, durationMs) => observer.stage(stage, durationMs));
    const options = {
      ...batch,
      reprocessBytesMax: this.#options.reprocessBytesMax,
      unprojectedBytesMax: this.#options.unprojectedBytesMax,
      alertsMax: this.#options.alertsMax,
      rollup: this.#rollup,
      eventIds: this.#eventIds,
      counterMemory: () => {
        this.#counterMemory ??= new CounterMemory();
        return this.#counterMemory;
      },
      thread: this.#thread,
      suspects: this.#suspects,
      slowTenants: batch.source.kind === 'new' ? this.#slowTenants : new Set<string>(),
      stages,
    };
    const counts = await transaction(postgres, (tx) => processBatch(tx, this.#deps, options))
      .catch((error: unknown) => {
        observer.ended?.(stages.ended({}, error));
        throw error;
      })
      .finally(() => batch.block.clear());
    if (counts === undefined) return undefined;
    stages.end('commit');
    observer.ended?.(stages.ended({ ...counts }));
    this.#stats.batches++;
    for (const name of Object.keys(counts) as (keyof BatchCounts)[]) this.#stats[name] += counts[name];
    observer.batch(counts, performance.now() - started);
    onCommitted();
    if (batch.source.kind === 'new' && counts.deferred > 0) {
      this.#mayBeDeferred = true;
      this.#deferredWakeup.notify();
    }
    return counts;
  }
}
